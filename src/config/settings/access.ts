// Who may sign in, with what, and for how long.
import Type from 'typebox'
import { pages } from '../in-pages.ts'

export const ACCESS = {
  secretKey: Type.Optional(
    Type.String({
      env: 'SECRET_KEY',
      secret: true,
      minLength: 16,
      description:
        'what secrets and personal numbers are sealed with; `start` generates one into DATA_DIR; not needed beside DATA_KEYS once nothing is sealed with it',
    }),
  ),
  dataKeys: Type.Optional(
    Type.String({
      env: 'DATA_KEYS',
      secret: true,
      minLength: 1,
      description:
        'keys that data is sealed with, a line `id:base64` for each (`zaakstroom keys add` makes one): the first one seals, all open, and SECRET_KEY comes behind them',
    }),
  ),
  bootstrapClient: Type.Object({
    id: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_CLIENT_ID',
        minLength: 1,
        maxLength: 50,
        description: 'client id with all rights, made or updated at start',
      }),
    ),
    secret: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_CLIENT_SECRET',
        secret: true,
        minLength: 1,
        maxLength: 255,
        description: 'its secret',
      }),
    ),
  }),
  /** The first account of the administration pages. */
  bootstrapAdmin: Type.Object({
    gebruikersnaam: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_ADMIN_USERNAME',
        must: 'be 1 to 150 visible ASCII characters without spaces',
        pattern: '^[\\x21-\\x7e]{1,150}$',
        description: 'account of the administration pages, made at start when it is not there',
      }),
    ),
    wachtwoord: Type.Optional(
      Type.String({
        env: 'BOOTSTRAP_ADMIN_PASSWORD',
        secret: true,
        minLength: 12,
        maxLength: 1000,
        description: 'its password, at least 12 characters',
      }),
    ),
  }),
  beheerTheme: Type.Object({
    css: Type.Optional(
      Type.String({
        env: 'BEHEER_THEME_CSS',
        kind: 'stylesheet',
        minLength: 1,
        description: 'stylesheet with the NL Design System tokens of the municipality',
      }),
    ),
    className: Type.Optional(
      Type.String({
        env: 'BEHEER_THEME_CLASS',
        needs: ['BEHEER_THEME_CSS'],
        must: 'be one name of letters, digits, _ and -',
        pattern: '^[\\w-]+$',
        description: 'class under which its tokens stand, such as `utrecht-theme`',
      }),
    ),
  }),
  /** Whom the OpenAPI documents name. */
  apiContact: Type.Object({
    name: Type.String({
      env: 'API_CONTACT_NAME',
      default: 'Beheer van deze Zaakstroom',
      minLength: 1,
      description: 'whom the OpenAPI documents name to ask',
    }),
    email: Type.Optional(
      Type.String({
        env: 'API_CONTACT_EMAIL',
        must: 'be an e-mail address',
        pattern: '^[^@\\s]+@[^@\\s]+$',
        description: 'their e-mail address, which the NL API Design Rules want',
      }),
    ),
    url: Type.Optional(
      Type.String({
        env: 'API_CONTACT_URL',
        kind: 'address',
        must: 'begin with https:// or http://, and have no spaces',
        pattern: '^https?://[^\\s]+$',
        description: 'their page; unset: our page of the APIs',
      }),
    ),
  }),
  beheerTotpRequired: Type.Boolean({
    env: 'BEHEER_TOTP_REQUIRED',
    default: false,
    description: 'true: whoever signs in with a password has to set up one-time codes',
    ...pages({
      group: 'Inloggen',
      label: 'Eenmalige codes verplicht',
      help: 'Wie met een wachtwoord inlogt moet eerst eenmalige codes instellen. Dat geldt meteen, ook voor wie nu is ingelogd.',
    }),
  }),
  /** The provider that people may sign in to the pages with. */
  oidc: Type.Object({
    issuer: Type.Optional(
      Type.String({
        env: 'OIDC_ISSUER',
        kind: 'address',
        must: 'begin with https:// or http://, and have no ? and no #',
        pattern: '^https?://[^?#]+$',
        description: 'OpenID Connect provider for the administration pages',
      }),
    ),
    clientId: Type.Optional(Type.String({ env: 'OIDC_CLIENT_ID', minLength: 1, description: 'our client id there' })),
    clientSecret: Type.Optional(
      Type.String({
        env: 'OIDC_CLIENT_SECRET',
        needs: ['OIDC_ISSUER'],
        secret: true,
        minLength: 1,
        description: 'our secret there; unset: a public client, with PKCE alone',
      }),
    ),
    label: Type.String({
      env: 'OIDC_LABEL',
      needs: ['OIDC_ISSUER'],
      default: 'OpenID Connect',
      minLength: 1,
      maxLength: 60,
      description: 'name of the provider',
    }),
    scopes: Type.String({
      env: 'OIDC_SCOPES',
      needs: ['OIDC_ISSUER'],
      must: 'have openid among its words',
      default: 'openid profile email',
      pattern: '(^| )openid( |$)',
      description: 'scopes',
    }),
    roleClaim: Type.String({
      env: 'OIDC_ROLE_CLAIM',
      needs: ['OIDC_ISSUER'],
      must: 'be names with a single dot between them',
      default: 'roles',
      pattern: '^[^.]+(\\.[^.]+)*$',
      description: 'claim of the ID token with the roles, with dots for a claim within a claim',
    }),
    viewer: Type.String({
      env: 'OIDC_ROLE_VIEWER',
      default: 'viewer',
      description: 'values of that claim that mean viewer, with commas',
    }),
    privacy: Type.String({
      env: 'OIDC_ROLE_PRIVACY',
      default: 'privacy',
      description: 'those that mean privacy: a viewer who sees who looked at cases and persons',
    }),
    operator: Type.String({ env: 'OIDC_ROLE_OPERATOR', default: 'operator', description: 'those that mean operator' }),
    administrator: Type.String({
      env: 'OIDC_ROLE_ADMINISTRATOR',
      default: 'administrator',
      description: 'those that mean administrator',
    }),
  }),
  jwtExpiry: Type.Integer({
    env: 'JWT_EXPIRY',
    default: 3600,
    minimum: 1,
    maximum: 31_622_400,
    description: 'seconds that a token lives after iat',
    ...pages({
      group: 'Toegang tot de API’s',
      label: 'Geldigheid van een token, in seconden',
      help: 'Zo lang na het maken (iat) wordt een token van een applicatie aangenomen. Te kort, en applicaties krijgen 403.',
    }),
  }),
  jwtLeeway: Type.Integer({
    env: 'JWT_LEEWAY',
    alsoRead: 'TIME_LEEWAY',
    default: 0,
    minimum: 0,
    maximum: 86_400,
    description: 'seconds of clock difference that are forgiven',
    ...pages({
      group: 'Toegang tot de API’s',
      label: 'Verschil tussen klokken, in seconden',
      help: 'Zoveel mogen de klokken van een applicatie en van deze dienst verschillen.',
    }),
  }),
  jwtIatSkew: Type.Integer({
    env: 'JWT_IAT_SKEW',
    default: 300,
    minimum: 0,
    maximum: 86_400,
    description: 'seconds that iat of a token may lie in the future',
    ...pages({
      group: 'Toegang tot de API’s',
      label: 'Token uit de toekomst, in seconden',
      help: 'Zoveel mag het moment waarop een token is gemaakt (iat) in de toekomst liggen.',
    }),
  }),
  /** The Inway that requests may come through (FSC), by what its Manager signs with. */
  fsc: Type.Object({
    peerId: Type.Optional(
      Type.String({
        env: 'FSC_PEER_ID',
        minLength: 1,
        maxLength: 255,
        description: 'our own peer id (OIN) in FSC: the issuer of the tokens that an Inway of ours passes on',
      }),
    ),
    groupId: Type.Optional(
      Type.String({
        env: 'FSC_GROUP_ID',
        must: 'be 1 to 100 letters, digits, ., /, _ or -',
        pattern: '^[a-zA-Z0-9./_-]{1,100}$',
        description: 'the FSC group',
      }),
    ),
    certificates: Type.Optional(
      Type.String({
        env: 'FSC_CERTIFICATES',
        kind: 'certificates',
        minLength: 1,
        description: 'file (PEM) with the certificates that our FSC Manager signs tokens with; read at the start',
      }),
    ),
    audience: Type.Optional(
      Type.String({
        env: 'FSC_AUDIENCE',
        minLength: 1,
        maxLength: 255,
        description: 'address of our Inway as tokens have it (aud); unset: any of our Inways',
      }),
    ),
    services: Type.Optional(
      Type.String({
        env: 'FSC_SERVICES',
        minLength: 1,
        maxLength: 1000,
        description: 'names under which this installation is published in FSC (svc), with commas; unset: any of ours',
      }),
    ),
  }),
  tokenEndpoint: Type.Enum(['off', 'EdDSA', 'ES256'], {
    env: 'TOKEN_ENDPOINT',
    default: 'off',
    description: 'gives tokens to clients at POST /oauth/token, signed with this algorithm; needs PUBLIC_URL',
  }),
  tokenKeyDays: Type.Integer({
    env: 'TOKEN_KEY_DAYS',
    needs: ['TOKEN_ENDPOINT'],
    default: 30,
    minimum: 1,
    maximum: 366,
    description: 'days after which the token endpoint gets a new key to sign with',
  }),
  tokenKeysKeptHours: Type.Integer({
    env: 'TOKEN_KEYS_KEPT_HOURS',
    default: 24,
    minimum: 1,
    maximum: 720,
    description: 'hours that the keys of an issuer of tokens go on to count while it cannot be asked for them',
  }),
}
