// Breaks of the numbers that stand in the schema: bounds of time, lengths, retries and portions, each by one.
import type { Mutant } from '../mutant.ts'

type Break = [what: string, search: string, replace: string]
const of = (file: string, breaks: Break[], tests = ['test/database/bounds.test.ts']): Mutant[] =>
  breaks.map(([what, search, replace]) => ({ what, file, search, replace, tests }))

export const BOUNDS: Mutant[] = [
  ...of('sql/0003-autorisaties.sql', [
    ['an issuer has an audience', 'cardinality(audiences) > 0', 'cardinality(audiences) >= 0'],
    ['an issuer has an algorithm', 'cardinality(algorithms) > 0', 'cardinality(algorithms) >= 0'],
    ['an issuer has a claim for the client', 'cardinality(client_claims) > 0', 'cardinality(client_claims) >= 0'],
    [
      'a client id has 1 to 50 characters: not less',
      'check (length(client_id) between 1 and 50)',
      'check (length(client_id) between 0 and 50)',
    ],
    [
      'a client id has 1 to 50 characters: not more',
      'check (length(client_id) between 1 and 50)',
      'check (length(client_id) between 1 and 51)',
    ],
    [
      'a client id of an issuer has 1 to 255 characters: not less',
      'check (length(client_id) between 1 and 255)',
      'check (length(client_id) between 0 and 255)',
    ],
    [
      'a client id of an issuer has 1 to 255 characters: not more',
      'check (length(client_id) between 1 and 255)',
      'check (length(client_id) between 1 and 256)',
    ],
    [
      'a token lives a minute to a day: not less',
      'check (max_lifetime_seconds between 60 and 86400)',
      'check (max_lifetime_seconds between 59 and 86400)',
    ],
    [
      'a token lives a minute to a day: not more',
      'check (max_lifetime_seconds between 60 and 86400)',
      'check (max_lifetime_seconds between 60 and 86401)',
    ],
    [
      'clocks differ by 0 to 300 seconds: not less',
      'check (leeway_seconds between 0 and 300)',
      'check (leeway_seconds between -1 and 300)',
    ],
    [
      'clocks differ by 0 to 300 seconds: not more',
      'check (leeway_seconds between 0 and 300)',
      'check (leeway_seconds between 0 and 301)',
    ],
  ]),
  ...of('sql/0008-services.sql', [
    [
      'the label of a service has 1 to 100 characters: not less',
      'check (length(label) between 1 and 100)',
      'check (length(label) between 0 and 100)',
    ],
    [
      'the label of a service has 1 to 100 characters: not more',
      'check (length(label) between 1 and 100)',
      'check (length(label) between 1 and 101)',
    ],
    ['the slug of a service has 1 to 100 characters', '[-a-zA-Z0-9_]{1,100}$', '[-a-zA-Z0-9_]{1,101}$'],
    [
      'a call of a service takes 0.1 to 300 seconds: not less',
      'check (timeout_ms between 100 and 300000)',
      'check (timeout_ms between 99 and 300000)',
    ],
    [
      'a call of a service takes 0.1 to 300 seconds: not more',
      'check (timeout_ms between 100 and 300000)',
      'check (timeout_ms between 100 and 300001)',
    ],
  ]),
  ...of('sql/0010-notificaties.sql', [
    [
      'a kanaal has a name of 1 to 50 characters: not less',
      'check (length(naam) between 1 and 50)',
      'check (length(naam) between 0 and 50)',
    ],
    [
      'a kanaal has a name of 1 to 50 characters: not more',
      'check (length(naam) between 1 and 50)',
      'check (length(naam) between 1 and 51)',
    ],
    [
      'the link of a kanaal has at most 200 characters',
      'length(documentatie_link) <= 200',
      'length(documentatie_link) <= 201',
    ],
    [
      'a callbackUrl has at most 2000 characters',
      'check (length(callback_url) <= 2000)',
      'check (length(callback_url) <= 2001)',
    ],
    [
      'an abonnement signs with at most two secrets',
      'cardinality(ondertekening) <= 2',
      'cardinality(ondertekening) <= 3',
    ],
    [
      'an abonnement gets 1 to 50 messages at once: not less',
      'check (concurrency between 1 and 50)',
      'check (concurrency between 0 and 50)',
    ],
    [
      'an abonnement gets 1 to 50 messages at once: not more',
      'check (concurrency between 1 and 50)',
      'check (concurrency between 1 and 51)',
    ],
    [
      'an attempt takes 1 to 60 seconds: not less',
      'check (timeout_ms between 1000 and 60000)',
      'check (timeout_ms between 999 and 60000)',
    ],
    [
      'an attempt takes 1 to 60 seconds: not more',
      'check (timeout_ms between 1000 and 60000)',
      'check (timeout_ms between 1000 and 60001)',
    ],
    [
      'messages are sent again at 1 to 600,000 a minute: not less',
      'check (per_minute between 1 and 600000)',
      'check (per_minute between 0 and 600000)',
    ],
    [
      'messages are sent again at 1 to 600,000 a minute: not more',
      'check (per_minute between 1 and 600000)',
      'check (per_minute between 1 and 600001)',
    ],
    ['0 to 100 retries: not less', 'check (max_retries between 0 and 100)', 'check (max_retries between -1 and 100)'],
    ['0 to 100 retries: not more', 'check (max_retries between 0 and 100)', 'check (max_retries between 0 and 101)'],
    [
      'a delay has a factor of 0 to 1,000,000',
      'backoff::numeric between 0 and 1000000',
      'backoff::numeric between 0 and 1000001',
    ],
    [
      'the longest delay is 1 second to a year: not less',
      'check (backoff_max between 1 and 31536000)',
      'check (backoff_max between 0 and 31536000)',
    ],
    [
      'the longest delay is 1 second to a year: not more',
      'check (backoff_max between 1 and 31536000)',
      'check (backoff_max between 1 and 31536001)',
    ],
    [
      'the base of the delay is 1 to 1,000: not less',
      'check (base_factor between 1 and 1000)',
      'check (base_factor between 0 and 1000)',
    ],
    [
      'the base of the delay is 1 to 1,000: not more',
      'check (base_factor between 1 and 1000)',
      'check (base_factor between 1 and 1001)',
    ],
    [
      'an abonnement is blocked after 1 to 87,600 hours: not less',
      'check (block_after_hours between 1 and 87600)',
      'check (block_after_hours between 0 and 87600)',
    ],
    [
      'an abonnement is blocked after 1 to 87,600 hours: not more',
      'check (block_after_hours between 1 and 87600)',
      'check (block_after_hours between 1 and 87601)',
    ],
    [
      'an abonnement is blocked from 1 to 100,000,000 messages: not less',
      'check (block_from_count between 1 and 100000000)',
      'check (block_from_count between 0 and 100000000)',
    ],
    [
      'an abonnement is blocked from 1 to 100,000,000 messages: not more',
      'check (block_from_count between 1 and 100000000)',
      'check (block_from_count between 1 and 100000001)',
    ],
    ['max_retries is 7 at first', 'max_retries integer not null default 7 ', 'max_retries integer not null default 8 '],
    [
      'backoff_max is 52000 at first',
      'backoff_max integer not null default 52000 ',
      'backoff_max integer not null default 52001 ',
    ],
    ['base_factor is 4 at first', 'base_factor integer not null default 4 ', 'base_factor integer not null default 5 '],
    [
      'block_after_hours is 336 at first',
      'block_after_hours integer not null default 336\n',
      'block_after_hours integer not null default 337\n',
    ],
    [
      'block_from_count is 1000000 at first',
      'block_from_count integer not null default 1000000\n',
      'block_from_count integer not null default 1000001\n',
    ],
    ['backoff is 25 at first', "backoff jsonb not null default '25'", "backoff jsonb not null default '26'"],
    ['values of kenmerken are compared in full up to 60 characters', 'length(w) <= 60', 'length(w) <= 59'],
    ['values of kenmerken over 60 characters are compared by their hash', 'length(w) <= 60', 'length(w) <= 61'],
    ['a refusal is 400 or more', 'between 400 and 499', 'between 399 and 499'],
    ['a refusal begins at 400', 'between 400 and 499', 'between 401 and 499'],
    ['a refusal is 499 at most', 'between 400 and 499', 'between 400 and 500'],
    ['408 is no refusal for good', 'not in (408, 409, 425, 429)', 'not in (409, 425, 429)'],
    ['409 is no refusal for good', 'not in (408, 409, 425, 429)', 'not in (408, 425, 429)'],
    ['425 is no refusal for good', 'not in (408, 409, 425, 429)', 'not in (408, 409, 429)'],
    ['429 is no refusal for good', 'not in (408, 409, 425, 429)', 'not in (408, 409, 425)'],
    ['410 unsubscribes', 'p_statuses[o.place] = 410', 'p_statuses[o.place] = 411'],
    [
      'the wait after the last of the waits stays',
      'p_probes[least(a.failures + f.count - p_sparing + 1, cardinality(p_probes))]',
      'p_probes[a.failures + f.count - p_sparing + 1]',
    ],
  ]),
  ...of('sql/0002-catalogi.sql', [
    [
      'a stage has number 1 to 9999: not less',
      'check (volgnummer between 1 and 9999)',
      'check (volgnummer between 0 and 9999)',
    ],
    [
      'a stage has number 1 to 9999: not more',
      'check (volgnummer between 1 and 9999)',
      'check (volgnummer between 1 and 10000)',
    ],
    [
      'a document of a zaaktype has number 1 to 999: not less',
      'check (volgnummer between 1 and 999)',
      'check (volgnummer between 0 and 999)',
    ],
    [
      'a document of a zaaktype has number 1 to 999: not more',
      'check (volgnummer between 1 and 999)',
      'check (volgnummer between 1 and 1000)',
    ],
    [
      'doorlooptijd of a zaaktype is at most 100 years',
      'zaaktype_doorlooptijd_is_term check (is_term(doorlooptijd, 100))',
      'zaaktype_doorlooptijd_is_term check (is_term(doorlooptijd, 101))',
    ],
    [
      'servicenorm of a zaaktype is at most 100 years',
      'zaaktype_servicenorm_is_term check (is_term(servicenorm, 100))',
      'zaaktype_servicenorm_is_term check (is_term(servicenorm, 101))',
    ],
    [
      'verlengingstermijn of a zaaktype is at most 100 years',
      'zaaktype_verlengingstermijn_is_term check (is_term(verlengingstermijn, 100))',
      'zaaktype_verlengingstermijn_is_term check (is_term(verlengingstermijn, 101))',
    ],
    [
      'doorlooptijd of a statustype is at most 100 years',
      'statustype_doorlooptijd_is_term check (is_term(doorlooptijd, 100))',
      'statustype_doorlooptijd_is_term check (is_term(doorlooptijd, 101))',
    ],
    [
      'reactietermijn of a besluittype is at most 100 years',
      'is_term(reactietermijn, 100)',
      'is_term(reactietermijn, 101)',
    ],
    [
      'publicatietermijn of a besluittype is at most 100 years',
      'is_term(publicatietermijn, 100)',
      'is_term(publicatietermijn, 101)',
    ],
    [
      'a zaaktype has room for 1,000 of a kind',
      "has_room(''zaaktype_id'', ''1000'')",
      "has_room(''zaaktype_id'', ''1001'')",
    ],
    [
      'a catalogue has room for 25,000 of a kind',
      "has_room(''catalogus_id'', ''25000'')",
      "has_room(''catalogus_id'', ''25001'')",
    ],
  ]),
  ...of('sql/0006-zaken.sql', [
    ['a case is prolonged by at most 100 years', 'is_term(verlenging_duur, 100)', 'is_term(verlenging_duur, 101)'],
  ]),
  ...of('sql/0001-audit.sql', [
    ['a term of archiving is at most 500 years', "<= timestamp '2500-01-01'\n", "<= timestamp '2501-01-01'\n"],
  ]),
  ...of('sql/0004-documenten.sql', [
    ['a part of a document has a byte or more', 'check (omvang > 0)', 'check (omvang >= 0)'],
  ]),
  ...of('sql/0011-beheer.sql', [
    ['the name of an account has 1 to 150 characters', '[[:graph:]]{1,150}$', '[[:graph:]]{1,151}$'],
    ['an account has a name of at most 200 characters', 'length(naam) <= 200', 'length(naam) <= 201'],
    ['an account has an address of at most 254 characters', 'length(email) <= 254', 'length(email) <= 255'],
  ]),
  ...of('sql/0005-import.sql', [
    ['a reason that rows share has at most 1,000 characters', "'#', 'g'), 1000)", "'#', 'g'), 1001)"],
  ]),
  ...of(
    'sql/0019-delivery.sql',
    [
      [
        'an abonnement that fails is probed before its messages are due',
        "case when a.failures >= p_sparing then 'infinity' else now() end",
        'now()',
      ],
      [
        'when an abonnement accepts again, what waits for its next attempt goes',
        '  if coalesce(failures < p_failures, true) then',
        '  if true then',
      ],
    ],
    ['test/nrc/abonnement/probe.test.ts'],
  ),
  ...of(
    'sql/0019-delivery.sql',
    [
      ['a receiver is the cause of 401, a message is not', 'in (400, 413, 415, 422)', 'in (400, 401, 413, 415, 422)'],
      ['a message may be the cause of 422', 'in (400, 413, 415, 422)', 'in (400, 413, 415)'],
      [
        'a message that is refused holds its place until the receiver accepts others',
        'aside = is_refused and',
        'aside =',
      ],
      [
        'while a receiver fails as a whole no attempt counts',
        'or not always_counts and is_well_else and',
        'or not always_counts and',
      ],
      [
        'what failed while its abonnement was away goes when it is back',
        'and l.ended_at >= since and l.place is null',
        'and false',
      ],
    ],
    ['test/notificaties/odd-receivers.test.ts'],
  ),
  {
    what: 'a request whose client hung up in its first hook leaves nothing behind',
    file: 'src/http/turns.ts',
    search: 'whenClosed(reply.raw, () => leave(raw))',
    replace: "reply.raw.once('close', () => leave(raw))",
    tests: ['test/http/hang-up.test.ts'],
  },
  {
    what: 'a line of NDJSON that is very deep fails alone',
    file: 'src/documenten/import/ndjson.ts',
    search: 'parseForeignJson(Buffer.from(line), LIMITS)',
    replace: 'JSON.parse(line)',
    tests: ['test/documenten/import-dialects.test.ts'],
  },
  {
    what: 'nobody shuts out a client with a long secret',
    file: 'src/autorisaties/token-endpoint/endpoint.ts',
    search: '    if (isRight && !isGuessable) return\n',
    replace: '',
    tests: ['test/autorisaties/token-endpoint.test.ts'],
  },
  {
    what: 'of two uploads to one import the first that is whole counts',
    file: 'src/documenten/import/index.ts',
    search: 'const found = await importForUpload(m, request, true)',
    replace: 'const found = await requireImport(m.read, request.params.uuid)',
    tests: ['test/documenten/import-api.test.ts'],
  },
]
