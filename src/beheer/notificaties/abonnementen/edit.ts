// Making and changing an abonnement: where messages go, how we identify ourselves there, and how they are sent. The callback is
// tried out before anything is stored.

import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { expected } from '../../../database/rows.ts'
import { OptionalText } from '../../../http/input.ts'
import { subscriberOwner, subscriberServers } from '../../../notificaties/deliver.ts'
import { addressFaults } from '../../../nrc/abonnement/callback.ts'
import { judge, MAX_AUTH, requireSecretFor } from '../../../nrc/abonnement/judge.ts'
import { changeAbonnement, createAbonnement, type Settings } from '../../../nrc/abonnement/write.ts'
import { certificateFault } from '../../../services/credentials.ts'
import { mutateFromPage } from '../../frame/change.ts'
import { type FormFaults, type FormValues, formFaultsOf, readForm, throwFormFaults } from '../../frame/form.ts'
import { redirectWith } from '../../frame/page.ts'
import { t, words } from '../../language/language.ts'
import {
  type Abonnement,
  administering,
  breadcrumbsOf,
  nameOf,
  type Params,
  readAbonnement,
  requireAbonnement,
  type TryOut,
  toAudit,
} from './abonnement.ts'
import { AUTHENTICATION_WORDS, stepsOf } from './labels.ts'

const FormFields = Type.Object({
  aflevering: Type.Optional(Type.Enum(['sturen', 'ophalen'])),
  callbackUrl: Type.Optional(Type.String({ format: 'uri', maxLength: 2000, default: '' })),
  applicatie: Type.Optional(Type.String({ format: 'uuid' })),
  authenticatie: Type.Enum(['header', 'jwt', 'oauth2']),
  auth: Type.Optional(Type.String({ maxLength: MAX_AUTH })),
  outgoingClientId: OptionalText(255),
  tokenUrl: Type.Optional(Type.String({ format: 'uri', maxLength: 1000 })),
  tokenScope: OptionalText(255),
  certificaat: OptionalText(50_000),
  certificateKey: OptionalText(50_000),
  termijn: Type.Integer({ minimum: 1, maximum: 60, default: 10 }),
  gelijktijdig: Type.Integer({ minimum: 1, maximum: 50, default: 4 }),
  inOrder: Type.Boolean(),
  cloudevents: Type.Boolean(),
  tochOpslaan: Type.Boolean(),
})
type FormFields = Static<typeof FormFields>

const MAX_APPLICATIES = 500

export function registerEdit(app: FastifyInstance, test: TryOut): void {
  const { config, box } = app.parts

  app.get('/abonnementen/nieuw', { config: administering }, async (_request, reply) =>
    reply.page('abonnement-edit', await page(undefined, NEW_DEFAULTS)),
  )

  app.post('/abonnementen/nieuw', { config: administering }, async (request, reply) => {
    try {
      const uuid = crypto.randomUUID()
      const { form, settings } = await read(request.body, undefined)
      await requireWorks(form, uuid, settings, undefined)
      await mutateFromPage(request, async (m) => {
        await createAbonnement(m, { box, config }, uuid, { ...settings, auth: expected(settings.auth) }, [])
        const made = expected(await readAbonnement(m.read, uuid))
        m.audit({
          handeling: 'abonnement-maken',
          soort: 'abonnement',
          id: uuid,
          weergave: nameOf(made),
          nieuw: toAudit(made),
        })
      })
      return await redirectWith(
        request,
        reply,
        `/abonnementen/${uuid}/filters`,
        t('Het abonnement is gemaakt. Kies nu waarover het berichten krijgt.'),
      )
    } catch (error) {
      return reply
        .code(400)
        .page('abonnement-edit', await page(undefined, (request.body ?? {}) as FormValues, formFaultsOf(error)))
    }
  })

  app.get<Params>('/abonnementen/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    return reply.page('abonnement-edit', await page(abonnement, toFields(abonnement)))
  })

  app.post<Params>('/abonnementen/:uuid/wijzigen', { config: administering }, async (request, reply) => {
    const abonnement = await requireAbonnement(app, request)
    try {
      const { form, settings } = await read(request.body, abonnement)
      await requireWorks(form, abonnement.uuid, settings, abonnement)
      await mutateFromPage(request, async (m) => {
        await changeAbonnement(m, box, abonnement.uuid, settings)
        const changed = expected(await readAbonnement(m.read, abonnement.uuid))
        m.audit({
          handeling: 'abonnement-wijzigen',
          soort: 'abonnement',
          id: abonnement.uuid,
          weergave: nameOf(changed),
          oud: toAudit(abonnement),
          nieuw: {
            ...toAudit(changed),
            ...(settings.auth !== undefined && { auth: 'gewijzigd' }),
            ...(settings.certificateKey && { certificateKey: 'gewijzigd' }),
          },
        })
      })
      return await redirectWith(
        request,
        reply,
        `/abonnementen/${abonnement.uuid}`,
        t('De wijziging is opgeslagen. Zij geldt ook voor wat wacht.'),
      )
    } catch (error) {
      return reply
        .code(400)
        .page('abonnement-edit', await page(abonnement, (request.body ?? {}) as FormValues, formFaultsOf(error)))
    }
  })

  async function page(abonnement: Abonnement | undefined, values: Record<string, unknown>, faults: FormFaults = {}) {
    const applicaties = await app.read
      .selectFrom('applicatie')
      .select(['uuid', 'label'])
      .orderBy('label')
      .limit(MAX_APPLICATIES)
      .execute()
    return {
      title: abonnement ? t('Abonnement wijzigen') : t('Nieuw abonnement'),
      breadcrumbs: abonnement ? breadcrumbsOf(abonnement) : [{ path: '/abonnementen', name: t('Abonnementen') }],
      abonnement,
      values,
      faults,
      applicaties: [
        ['', t('Geen: alleen te beheren in deze pagina’s')],
        ...applicaties.map(({ uuid, label }) => [uuid, label || t('(zonder label)')]),
      ],
      authenticaties: Object.entries(AUTHENTICATION_WORDS),
      hasSecret: abonnement !== undefined,
      hasKey: abonnement?.certificateKey != null,
      withoutTest: !config.notificatiesTestCallbackAuth,
    }
  }

  /** @throws Problem 400 with what is wrong per field */
  async function read(body: unknown, abonnement: Abonnement | undefined) {
    const form = readForm(FormFields, body)
    const callbackUrl = form.aflevering === 'ophalen' ? '' : (form.callbackUrl ?? '')
    const { authenticatie, auth, outgoingClientId = '', tokenUrl = '', tokenScope = '', certificaat = '' } = form
    await judge(app.read, config, { callbackUrl, auth: authenticatie === 'header' ? auth : undefined })
    const faults: FormFaults = {}
    const kept = abonnement?.authenticatie === authenticatie
    const isFetched = form.aflevering === 'ophalen'
    if (!form.aflevering) faults.aflevering = t('Kies of berichten worden gestuurd of opgehaald.')
    if (form.aflevering === 'sturen' && callbackUrl === '')
      faults.callbackUrl = t('Vul het adres in waar berichten heen gaan.')
    if (isFetched && !form.applicatie)
      faults.applicatie = t('Kies de applicatie die de berichten ophaalt: zonder kan niemand ze lezen.')
    if (auth === undefined && !kept && !isFetched) faults.auth = t('Vul in waarmee wij ons bekendmaken.')
    if (authenticatie !== 'header' && outgoingClientId === '')
      faults.outgoingClientId = t('Vul het client-ID in dat de ontvanger voor ons kent.')
    if (authenticatie === 'oauth2') {
      const [fault] =
        tokenUrl === ''
          ? [{ reason: t('Vul het adres in waar een token wordt gevraagd.') }]
          : addressFaults(config, tokenUrl)
      if (fault) faults.tokenUrl = fault.reason.replace('callback', 'tokendienst')
    }
    if (abonnement && faults.auth === undefined) requireSecretFor(abonnement, { callbackUrl, tokenUrl, auth })
    const key = certificaat === '' ? null : (form.certificateKey ?? storedKey(abonnement))
    Object.assign(faults, certificateFaults(certificaat, key))
    throwFormFaults(faults)
    const settings: Partial<Settings> & Pick<Settings, 'callbackUrl' | 'applicatieUuid'> = {
      callbackUrl,
      applicatieUuid: form.applicatie ?? null,
      authenticatie,
      ...(auth !== undefined ? { auth } : isFetched && !abonnement && { auth: '' }),
      outgoingClientId: authenticatie === 'header' ? '' : outgoingClientId,
      tokenUrl: authenticatie === 'oauth2' ? tokenUrl : '',
      tokenScope: authenticatie === 'oauth2' ? tokenScope : '',
      certificaat,
      ...(certificaat === ''
        ? { certificateKey: null }
        : form.certificateKey !== undefined && { certificateKey: form.certificateKey }),
      timeoutMs: form.termijn * 1000,
      concurrency: form.gelijktijdig,
      inOrder: form.inOrder,
      cloudevents: form.cloudevents,
    }
    return { form, settings }
  }

  const storedKey = (abonnement: Abonnement | undefined) =>
    abonnement?.certificateKey ? box.open(abonnement.certificateKey, subscriberOwner(abonnement.uuid)) : null

  /** Outside any transaction. @throws Problem 400 when the callback does not do what it should, unless that was confirmed */
  async function requireWorks(
    form: FormFields,
    uuid: string,
    settings: Partial<Settings>,
    abonnement: Abonnement | undefined,
  ) {
    if (form.tochOpslaan || settings.callbackUrl === '') return
    const { auth, certificateKey, ...plain } = settings
    const owner = subscriberOwner(uuid)
    const servers = subscriberServers({ callbackUrl: '', tokenUrl: '', ...abonnement, ...plain })
    const steps = await test({
      ...(abonnement ?? { ondertekening: [] }),
      ...(plain as Settings),
      uuid,
      auth: auth === undefined ? expected(abonnement).auth : box.sealFor(auth, owner, servers),
      certificateKey:
        certificateKey === undefined
          ? (abonnement?.certificateKey ?? null)
          : certificateKey === null
            ? null
            : box.seal(certificateKey, owner),
    })
    const fault = stepsOf(steps).find(({ ok }) => !ok)
    if (fault)
      throwFormFaults({
        tochOpslaan: t`De test is mislukt: ${fault.name.toLowerCase()}. ${fault.detail} ${fault.advice}`,
      })
  }
}

const NEW_DEFAULTS = { authenticatie: 'header', termijn: '10', gelijktijdig: '4', inOrder: 'true' }

const toFields = (abonnement: Abonnement) => ({
  ...abonnement,
  aflevering: abonnement.callbackUrl === '' ? 'ophalen' : 'sturen',
  applicatie: abonnement.applicatieUuid ?? '',
  termijn: String(abonnement.timeoutMs / 1000),
})

const CERTIFICATE_FAULTS = words({
  certificate: { certificaat: 'Dit is geen certificaat in PEM-vorm (BEGIN CERTIFICATE).' },
  key: { certificateKey: 'Dit is geen sleutel in PEM-vorm zonder wachtwoord.' },
  mismatch: { certificateKey: 'Deze sleutel hoort niet bij het certificaat.' },
})

function certificateFaults(certificaat: string, key: string | null): FormFaults {
  if (certificaat === '') return {}
  if (key === null) return { certificateKey: t('Vul de sleutel in die bij het certificaat hoort.') }
  const fault = certificateFault(certificaat, key)
  return fault ? CERTIFICATE_FAULTS[fault] : {}
}
