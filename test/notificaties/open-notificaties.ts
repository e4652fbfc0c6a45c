// node test/notificaties/open-notificaties.ts: what a real Open Notificaties answers to our messages, held against what the order of
// messages is built on. By hand, with OPEN_NOTIFICATIES_URL (its API root), OPEN_NOTIFICATIES_CLIENT and OPEN_NOTIFICATIES_SECRET;
// test/overnemen/README.md says how one is set up.
//
// Its source (open-zaak/open-notificaties, src/nrc/api/viewsets.py and serializers.py, 1.16) says: a message that it takes is 201, also
// when no abonnement fits, and what becomes of it at subscribers is never in the answer. A kanaal that it does not know, and kenmerken
// that are none of the kanaal, are 400: the message is judged, and others are accepted. Whoever is unknown, or lacks the scope
// notificaties.publiceren, is 403: nothing is accepted. It sends no Retry-After.
import { randomUUID } from 'node:crypto'
import { secretBox } from '../../src/core/secret-box.ts'
import { openDelivery } from '../../src/notificaties/deliver.ts'
import { registerKanalen } from '../../src/notificaties/kanalen.ts'
import type { RemoteService } from '../../src/services/services.ts'
import { testApp } from '../app.ts'
import { freePort } from '../free-port.ts'
import { collectViolations, whileStanding } from '../stage.ts'
import { configure } from './given.ts'

const { OPEN_NOTIFICATIES_URL: root, OPEN_NOTIFICATIES_CLIENT: client, OPEN_NOTIFICATIES_SECRET: secret } = process.env
if (!root || !client || !secret)
  console.log(
    'SKIPPED: no Open Notificaties is named in OPEN_NOTIFICATIES_URL, OPEN_NOTIFICATIES_CLIENT and OPEN_NOTIFICATIES_SECRET',
  )
else
  await whileStanding(async (stage) => {
    // It fetches the documentation of a kanaal before it takes the kanaal: that page is ours.
    const port = await freePort()
    const test = await testApp(stage, { PUBLIC_URL: `http://127.0.0.1:${port}` })
    await test.app.listen({ host: '127.0.0.1', port })
    const { database, config } = test
    const box = secretBox(config.secretKey!)
    await configure(test, root, {}, 10_000, { client, secret })
    const judge = collectViolations(stage.comment)
    const registered = await registerKanalen({ database, box, config })
    judge.same(
      registered.filter(({ gelukt }) => !gelukt),
      [],
      'our kanalen are registered',
    )
    const [service] = await database.sql<(RemoteService & { sealedSecret: Buffer })[]>`
      select uuid, api_root as "apiRoot", authenticatie, client_id as "clientId", header, sealed_secret as "sealedSecret",
        gebruikers_id as "gebruikersId", gebruikers_weergave as "gebruikersWeergave", timeout_ms as "timeoutMs", token_url as "tokenUrl",
        token_scope as "tokenScope", certificaat, certificate_key as "certificateKey", ca from service where slug = 'nrc'`
    const deliver = openDelivery(config, box)
    stage.teardown(() => deliver.close())
    const url = 'http://localhost/documenten/api/v1/enkelvoudiginformatieobjecten/'
    const message = {
      ...{ uuid: randomUUID(), kanaal: 'documenten', bron: '', hoofdObject: `${url}${randomUUID()}` },
      ...{ resource: 'enkelvoudiginformatieobject', resourceUrl: `${url}${randomUUID()}`, actie: 'create' },
      ...{ aanmaakdatum: new Date().toISOString(), cloudevent: null, requestId: '' },
      kenmerken: { bronorganisatie: '517439943' } as Record<string, unknown>,
    }
    const statusOf = async (changed: Partial<typeof message>, to: Partial<RemoteService> = {}) => {
      const { httpStatus, answer, outcome } = await deliver.post({
        ...{ message: { ...message, ...changed }, notificatieId: 1, attempt: 1, replay: false, abonnement: null },
        service: { ...service!, ...to },
      })
      stage.comment(`${outcome} ${httpStatus}: ${answer?.slice(0, 200)}`)
      return httpStatus
    }
    judge.equal(await statusOf({}), 201, 'a message')
    judge.equal(await statusOf({ kanaal: 'onbekend' }), 400, 'a kanaal that it does not know')
    judge.equal(await statusOf({ kenmerken: { onbekend: 'x' } }), 400, 'a kenmerk that is none of the kanaal')
    judge.equal(await statusOf({}, { clientId: 'onbekend' }), 403, 'a client that it does not know')
    judge.equal(await statusOf({}), 201, 'others are accepted as before')
    for (const violation of judge.violations) console.log(`  ${violation}`)
    if (judge.violations.length > 0) stage.fail()
  })
