// Every change of what hangs on a case passes the gate: one break for each place that asks it, and for what it asks.
import type { Mutant } from '../mutant.ts'

const GATE = [
  { what: 'a new rol', file: 'rollen.ts', search: '    requireWritable(m, zaak, [...onceFaults' },
  { what: 'a changed rol', file: 'rollen.ts', search: '  requireWritable(m, zaak, betrokkeneFaults(input))' },
  { what: 'a removed rol', file: 'rollen.ts', search: '  if (rows.length === 0) return\n  requireWritable(m, zaak)' },
  { what: 'a new resultaat', file: 'resultaten.ts', search: '  requireWritable(m, zaak, await uniqueFaults(m, zaak))' },
  { what: 'a changed resultaat', file: 'resultaten.ts', search: '  requireWritable(m, zaak, [\n' },
  { what: 'a removed resultaat', file: 'resultaten.ts', search: '  requireWritable(m, zaak)\n' },
  {
    what: 'a new zaakeigenschap',
    file: 'zaakeigenschappen.ts',
    search: '  requireWritable(m, zaak, await judgeValue(m, type, input.waarde, streng))',
  },
  { what: 'a changed zaakeigenschap', file: 'zaakeigenschappen.ts', search: '  requireWritable(m, zaak, [\n' },
  { what: 'a removed zaakeigenschap', file: 'zaakeigenschappen.ts', search: '  requireWritable(m, zaak)\n' },
  {
    what: 'a new zaakinformatieobject',
    file: 'zaakinformatieobjecten.ts',
    search: '  const statusId = await findStatus(m, zaak, input.status)\n  requireWritable(m, zaak)',
  },
  {
    what: 'a changed zaakinformatieobject',
    file: 'zaakinformatieobjecten.ts',
    search: '  requireWritable(m, zaak, [\n',
  },
  {
    what: 'a removed zaakinformatieobject',
    file: 'zaakinformatieobjecten.ts',
    search: 'holdOne(m, source, uuid, ONTKOPPELEN)\n  requireWritable(m, zaak)',
  },
  {
    what: 'a changed zaakobject',
    file: 'zaakobjecten.ts',
    search: '  requireWritable(m, zaak, [\n',
  },
  {
    what: 'a removed zaakobject',
    file: 'zaakobjecten.ts',
    search: '  if (rows.length === 0) return\n  requireWritable(m, zaak)',
  },
  { what: 'a new klantcontact', file: 'klantcontacten.ts', search: '  requireWritable(m, zaak, isAhead' },
  {
    what: 'a new substatus',
    file: 'substatussen.ts',
    search: '  requireWritable(m, zaak, [], closedForNotes(config))\n',
  },
  {
    what: 'a new note',
    file: 'zaaknotities.ts',
    search: '        requireWritable(m, zaak, [], closed())\n        const values',
  },
  { what: 'a note that comes', file: 'zaaknotities.ts', search: '  if (zaak) requireWritable(m, zaak, [], closed)' },
  {
    what: 'a changed or removed note',
    file: 'zaaknotities.ts',
    search: '  requireWritable(m, zaak, [], closed)\n  return before',
  },
  {
    what: 'a removed contactmoment or verzoek',
    file: 'customer-relations.ts',
    search: '  requireWritable(m, zaak, [], closed)\n  await m.sql`delete',
  },
  {
    what: 'a removed zaakbesluit',
    file: 'zaakbesluiten.ts',
    search: '        requireWritable(m, zaak)\n        await m.trx.deleteFrom',
  },
]

export const CLOSED: Mutant[] = [
  ...GATE.map(({ what, file, search }) => ({
    what: `zrc-007 ${what} passes the gate`,
    file: `src/zaken/${file}`,
    search,
    replace: search.replace('requireWritable(', 'void (() => {})('),
    tests: ['test/zaken/closed.test.ts'],
  })),
  {
    what: 'the gate knows archived cases',
    file: 'src/zaken/lock.ts',
    search: '  throwFaults([...faults, ...(isFixed(m, zaak) ? [ARCHIVED] : [])])',
    replace: '  throwFaults([...faults])',
    tests: ['test/zaken/closed.test.ts'],
  },
  {
    what: 'the gate knows closed cases',
    file: 'src/zaken/lock.ts',
    search: "  if (closed === 'forced' || isArchived(zaak)) requireForcedWhenClosed(m, zaak)",
    replace: '  if (isArchived(zaak)) requireForcedWhenClosed(m, zaak)',
    tests: ['test/zaken/closed.test.ts'],
  },
  {
    what: 'an archived case has not a new status',
    file: 'src/zaken/statussen.ts',
    search: "  requireWritable(m, zaak, faults, 'judged')",
    replace: '  throwFaults(faults)',
    tests: ['test/zaken/closing.test.ts'],
  },
  {
    what: 'an archived case has not a new contactmoment or verzoek',
    file: 'src/zaken/customer-relations.ts',
    search: '          requireWritable(m, zaak, faults, closedForNotes(app.parts.config))',
    replace: '          throwFaults(faults)',
    tests: ['test/zaken/customer-relations.test.ts'],
  },
  {
    what: 'rights on a hoofdzaak or gerelateerde zaak are asked',
    file: 'src/zaken/zaak/beside.ts',
    search: '      if (!mayDo(m.actor, KOPPELEN, zaak))',
    replace: '      if (Math.random() > 2)',
    tests: ['test/zaken/closed.test.ts'],
  },
  {
    what: 'all of a family is asked for before it goes',
    file: 'src/zaken/zaak/delete.ts',
    search: '  for (const one of family) requireMayDelete(m, one)\n',
    replace: '',
    tests: ['test/zaken/closed.test.ts'],
  },
  ...(['delete', 'create', 'change'] as const).map((name) => ({
    what: `zrc-007 a besluit of a closed case asks for the forced scope (${name})`,
    file: `src/besluiten/${name}.ts`,
    search: 'if (zaak) requireWritable(m, zaak)',
    replace: 'if (zaak) void zaak',
    tests: ['test/zaken/closed.test.ts'],
  })),
]
