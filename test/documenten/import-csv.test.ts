import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { type CsvRow, columnOf, rowToDocument, valuesOf } from '../../src/documenten/import/columns.ts'
import { COLUMN_NAMES, CsvError, portionsOf, readImportCsv, rowLine } from '../../src/documenten/import/csv.ts'
import { strictUtf8 } from '../../src/documenten/import/utf8.ts'

const HEADER = COLUMN_NAMES.join(',')
const MARK = '\ufeff'

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

async function* splitAt(bytes: Buffer, ...places: number[]): AsyncGenerator<Buffer> {
  const edges = [0, ...places, bytes.length]
  for (let i = 1; i < edges.length; i++) yield bytes.subarray(edges[i - 1], edges[i])
}

async function readLines(bytes: AsyncIterable<Uint8Array> | Readable, options?: { maxRecordBytes?: number }) {
  const { header, regels } = await readImportCsv(bytes, options)
  return { header, regels: await Array.fromAsync(regels) }
}

const readText = (csv: string, size = 64 * 1024) => readLines(inPieces(Buffer.from(csv), size))

/** The records below a good header. */
async function linesOf(csv: string, size = 64 * 1024): Promise<string[][]> {
  async function* upload() {
    yield Buffer.from(`${HEADER}\n`)
    yield* inPieces(Buffer.from(csv), size)
  }
  return (await readLines(upload())).regels
}

async function faultOf(work: Promise<unknown>): Promise<CsvError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof CsvError)) throw new Error('expected a CsvError', { cause: error })
  return error
}

/** Small, seeded: the same cases on every run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

t.test('UTF-8', async (t) => {
  t.test('is passed on unchanged, without the leading mark, wherever the chunks are cut', async (t) => {
    const said = 'a,é€😀,\u0000\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}\n'
    for (const [csv, expected] of [
      [said, said],
      [MARK + said, said],
      [`${MARK}${MARK}x`, `${MARK}x`],
      [`x\n${MARK}y`, `x\n${MARK}y`],
      [MARK, ''],
    ] as const) {
      const bytes = Buffer.from(csv)
      const wrong: number[][] = []
      for (let first = 0; first <= bytes.length; first++) {
        for (let second = first; second <= bytes.length; second++) {
          const out = Buffer.concat(await Array.fromAsync(strictUtf8(splitAt(bytes, first, second))))
          if (out.toString() !== expected) wrong.push([first, second])
        }
      }
      t.same(wrong, [], JSON.stringify(csv))
    }
  })

  t.test('anything else is refused with the offset of the first bad byte, wherever the chunks are cut', async (t) => {
    const bad: Buffer[] = []
    const hex = (...codes: string[]) => {
      for (const code of codes) bad.push(Buffer.from(code.replaceAll(' ', ''), 'hex'))
    }
    for (let byte = 0x80; byte <= 0xff; byte++) bad.push(Buffer.from([byte])) // every letter of Latin-1 and CP1252 above ASCII
    hex('c0 80', 'c1 bf', 'e0 80 80', 'e0 9f bf', 'f0 80 80 80', 'f0 8f bf bf', 'f8 88 80 80 80', 'fc 84 80 80 80 80') // overlong
    hex('f4 90 80 80', 'f5 80 80 80', 'f7 bf bf bf') // beyond U+10FFFF
    for (const high of ['a0', 'a7', 'ad', 'af', 'b0', 'b5', 'bd', 'bf']) hex(`ed ${high} 80`, `ed ${high} bf`) // surrogates
    hex('ed a0 bd ed b8 80') // a pair of them, as CESU-8 has it
    hex('c3', 'e2 82', 'e2', 'f0 9f 98', 'f0 9f', 'f0', 'e2 82 41', 'f0 9f 98 41', 'c3 c3 a9', 'e2 e2 82 ac') // cut off
    hex('ff fe', 'fe ff', 'ff fe 00 00', '80 ef bb bf', 'ef bb', 'ef bf')
    const around = [
      ['', ''],
      ['uuid,titel\n', ''],
      ['', 'x\n'],
      [`${MARK}uuid`, 'x'],
      ['é€😀', '€'],
    ] as const
    const cases = bad.flatMap((bytes) =>
      around.map(([before, after]) => Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])),
    )
    cases.push(Buffer.from(`${HEADER}\ncafé`, 'latin1'))

    let checked = 0
    const wrong: unknown[] = []
    for (const bytes of cases) {
      const expected = validPrefix(bytes)
      if (expected === bytes.length) continue // some of the above complete each other to a character
      checked++
      for (const size of [1, 2, 3, 5, 1000]) {
        const { code, message } = await faultOf(Array.fromAsync(strictUtf8(inPieces(bytes, size))))
        if (code !== 'parse_error' || !message.includes(`op positie ${expected} `)) {
          wrong.push([bytes.toString('hex'), size, expected, message])
        }
      }
    }
    t.ok(checked > 200, `${checked} files`)
    t.same(wrong, [])
  })

  t.test('UTF-32 is refused, and UTF-16 without a mark', async (t) => {
    const utf32 = (csv: string, method: 'writeUInt32BE' | 'writeUInt32LE') => {
      const out = Buffer.alloc(csv.length * 4)
      for (let i = 0; i < csv.length; i++) out[method](csv.charCodeAt(i), i * 4)
      return out
    }
    for (const [name, bytes, offset] of [
      ['UTF-16LE', Buffer.from(HEADER, 'utf16le'), 1],
      ['UTF-16BE', Buffer.from(HEADER, 'utf16le').swap16(), 0],
      ['UTF-32LE', utf32(HEADER, 'writeUInt32LE'), 1],
      ['UTF-32BE', utf32(HEADER, 'writeUInt32BE'), 0],
      ['UTF-32LE with mark', utf32(MARK + HEADER, 'writeUInt32LE'), 0],
      ['UTF-32BE with mark', utf32(MARK + HEADER, 'writeUInt32BE'), 0],
    ] as const) {
      for (const size of [1, 2, 3, 1000]) {
        const fault = await faultOf(readLines(inPieces(bytes, size)))
        t.match(fault, { code: 'parse_error', message: `op positie ${offset} ` }, `${name} in pieces of ${size}`)
      }
    }
  })

  t.test('a bad byte is found in the header and in the last row', async (t) => {
    for (const bytes of [
      Buffer.concat([Buffer.from('uuid,t\u00eftel'), Buffer.from([0xe9]), Buffer.from(`,${HEADER}\n`)]),
      Buffer.concat([Buffer.from(`${MARK}${HEADER}\n${'a,b\n'.repeat(50_000)}`), Buffer.from([0x61, 0xe9])]),
    ]) {
      const fault = await faultOf(readLines(inPieces(bytes, 64 * 1024)))
      t.match(fault, { code: 'parse_error', message: `op positie ${bytes.indexOf(0xe9)} ` })
    }
  })
})

t.test('a charset', async (t) => {
  const cells = COLUMN_NAMES.map((_, place) => ['€ 5', 'Café “één”', '', 'x'][place % 4]!)
  const csv = `${COLUMN_NAMES.join('\t')}\r\n${cells.join('\t')}\r\n`
  // As the code pages themselves say, not the decoder.
  const CP1252: Record<string, number> = { '€': 0x80, '“': 0x93, '”': 0x94, é: 0xe9 }
  const cp1252 = Buffer.from([...csv].map((char) => CP1252[char] ?? char.charCodeAt(0)))

  t.test('that is declared or marked is read, wherever the chunks are cut', async (t) => {
    for (const [name, bytes, declared, charset, mark] of [
      ['windows-1252', cp1252, 'windows-1252', 'windows-1252', false],
      ['UTF-16LE as Excel saves “Unicode text”', Buffer.from(MARK + csv, 'utf16le'), undefined, 'utf-16le', true],
      ['UTF-16BE', Buffer.from(MARK + csv, 'utf16le').swap16(), undefined, 'utf-16be', true],
      ['UTF-16LE without a mark', Buffer.from(csv, 'utf16le'), 'utf-16le', 'utf-16le', false],
      ['a mark against what was declared', Buffer.from(MARK + csv), 'windows-1252', 'utf-8', true],
      ['UTF-8', Buffer.from(csv), undefined, 'utf-8', false],
    ] as const) {
      for (const size of [1, 3, 1000]) {
        const read = await readImportCsv(inPieces(bytes, size), declared ? { charset: declared } : {})
        t.same(read.header, COLUMN_NAMES, name)
        t.same(await Array.fromAsync(read.regels), [cells], name)
        t.match(read.dialect, { charset, mark, separator: '\t', newline: '\r\n', sepLine: false }, name)
      }
    }
  })

  t.test('that is neither is refused with the byte and what to do', async (t) => {
    const { message } = await faultOf(readLines(inPieces(cp1252, 100)))
    t.match(message, `de eerste foute byte (0x80) staat op positie ${cp1252.indexOf(0x80)} `)
    t.match(message, 'text/csv; charset=windows-1252')
  })

  t.test('that the bytes are not in is refused', async (t) => {
    for (const [bytes, charset] of [
      [Buffer.from(`${MARK}${csv}`, 'utf16le').subarray(0, -1), undefined],
      [Buffer.concat([Buffer.from(MARK + csv, 'utf16le'), Buffer.from([0x00, 0xd8, 0x41, 0x00])]), undefined],
      [Buffer.concat([Buffer.from(csv), Buffer.from([0xff])]), 'euc-jp'],
    ] as const) {
      t.match(
        await faultOf(
          readImportCsv(inPieces(bytes, 100), charset ? { charset } : {}).then(({ regels }) => Array.fromAsync(regels)),
        ),
        { code: 'parse_error', message: 'Het bestand is geen geldige ' },
      )
    }
  })
})

t.test('a line that names the separator is passed over, wherever the chunks are cut', async (t) => {
  for (const separator of [',', ';', '\t', '|']) {
    for (const newline of ['\n', '\r\n', '\r']) {
      for (const line of [`sep=${separator}`, `SEP=${separator}`, `"sep=${separator}"`]) {
        const bytes = Buffer.from(
          [`${MARK}${line}`, COLUMN_NAMES.join(separator), COLUMN_NAMES.join(separator), ''].join(newline),
        )
        for (const size of [1, 2, 7, 11, 1000]) {
          const { header, regels, dialect } = await readImportCsv(inPieces(bytes, size))
          t.same(header, COLUMN_NAMES)
          t.same(await Array.fromAsync(regels), [[...COLUMN_NAMES]])
          t.same(dialect, { charset: 'utf-8', mark: true, separator, newline, sepLine: true })
        }
      }
    }
  }
  const fault = await faultOf(readText(`sep=;\r\n${COLUMN_NAMES.join(';')}\r\n"a"b`))
  t.match(fault.message, 'Rij 2, die begint op regel 3 van')
})

t.test('tabs separate where they make the columns, whatever commas a further column has', async (t) => {
  const { header, regels } = await readText(`Notitie, intern; kort\t${COLUMN_NAMES.join('\t')}\n\t\ta, b;c\t" x"\n`)
  t.same(header, ['Notitie, intern; kort', ...COLUMN_NAMES])
  t.same(regels, [['', '', 'a, b;c', ' x']])
})

/** How many bytes at the begin are UTF-8 by the judgement of another decoder. */
function validPrefix(bytes: Buffer): number {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for (let length = bytes.length; ; length--) {
    try {
      decoder.decode(bytes.subarray(0, length))
      return length
    } catch {}
  }
}

t.test('records', async (t) => {
  t.test('come as their original cells', async (t) => {
    for (const [name, csv, expected] of [
      [
        'plain',
        'a,b,c\n1,2,3\n',
        [
          ['a', 'b', 'c'],
          ['1', '2', '3'],
        ],
      ],
      [
        'no newline at the end',
        'a,b\n1,2',
        [
          ['a', 'b'],
          ['1', '2'],
        ],
      ],
      ['a comma in quotes', 'Jan,"Dam 1, Amsterdam",x\n', [['Jan', 'Dam 1, Amsterdam', 'x']]],
      ['quotes in quotes', 'a,"hij zei ""ja""","""","{""k"": ""v""}"\n', [['a', 'hij zei "ja"', '"', '{"k": "v"}']]],
      [
        'newlines in quotes',
        'a,"x\ny\r\nz\rw"\nb,c\n',
        [
          ['a', 'x\ny\r\nz\rw'],
          ['b', 'c'],
        ],
      ],
      ['quotes and newlines in quotes', '"""\n""",b\n', [['"\n"', 'b']]],
      ['LF, CRLF, CR and a mixture', 'a\nb\r\nc\rd\r\n', [['a'], ['b'], ['c'], ['d']]],
      ['CR only, at the end', 'a\rb\r', [['a'], ['b']]],
      ['empty cells', ',\n,,\n"",""\n""\n', [['', ''], ['', '', ''], ['', ''], ['']]],
      [
        'trailing commas',
        'a,\n"b",\nc,',
        [
          ['a', ''],
          ['b', ''],
          ['c', ''],
        ],
      ],
      ['blank lines', '\na\n\n\r\n\rb\n', [[], ['a'], [], [], [], ['b']]],
      ['ragged rows', 'a\na,b,c\na,b\n', [['a'], ['a', 'b', 'c'], ['a', 'b']]],
      ['a quote in an unquoted cell', 'a,b "c" d,12"\n', [['a', 'b "c" d', '12"']]],
      [
        'a space before a quote',
        'a, "b"\n "c",d\n',
        [
          ['a', ' "b"'],
          [' "c"', 'd'],
        ],
      ],
      ['white space', '  ,a , b,\t\n \n   ', [['  ', 'a ', ' b', '\t'], [' '], ['   ']]],
      ['other white space', '\u00a0,\u2028,\u3000"x"\n\u2003\n', [['\u00a0', '\u2028', '\u3000"x"'], ['\u2003']]],
      ['byte order marks', `${MARK}a,${MARK}"b"\n${MARK}\n`, [[`${MARK}a`, `${MARK}"b"`], [MARK]]],
      [
        'NUL and other control characters',
        'a\0b,\0,"\0"\n\x1a\x01,\x7f\n\x1a',
        [['a\0b', '\0', '\0'], ['\x1a\x01', '\x7f'], ['\x1a']],
      ],
      ['what looks like a comment', '# a,b\n//c\n', [['# a', 'b'], ['//c']]],
      ['other delimiters', 'a;b\tc|d\n', [['a;b\tc|d']]],
      ['UTF-8', 'é,€,😀,"Łódź, ""x"""\n', [['é', '€', '😀', 'Łódź, "x"']]],
      ['names of object members', '__proto__,constructor\n', [['__proto__', 'constructor']]],
    ] as [string, string, string[][]][]) {
      for (const size of [1, 2, 3, 7, 64 * 1024]) {
        t.same(await linesOf(csv, size), expected, `${name}, in pieces of ${size}`)
      }
    }
  })

  t.test('do not depend on where the chunks are cut', async (t) => {
    const bytes = Buffer.from(`${MARK}${HEADER}\r\n  é,"x""y\r\n€",\r\n${MARK}"q",\r\n\r\r\n"",😀 \rlast,"z"`)
    const expected = JSON.stringify([['  é', 'x"y\r\n€', ''], [`${MARK}"q"`, ''], [], [], ['', '😀 '], ['last', 'z']])
    const wrong: number[] = []
    for (let at = 0; at <= bytes.length; at++) {
      const { header, regels } = await readLines(splitAt(bytes, at))
      if (JSON.stringify(regels) !== expected || header.join() !== HEADER) wrong.push(at)
    }
    t.same(wrong, [])
  })

  t.test('are those of a plain reading of RFC 4180, for 1,500 random files', async (t) => {
    const random = randomFrom(20261121)
    const alphabet = [
      'a',
      'b',
      '1',
      '"',
      '"',
      '""',
      ',',
      ',',
      ',"',
      '",',
      '\n',
      '\r',
      '\r\n',
      '"\n',
      ' ',
      '\t',
      'é',
      '€',
      MARK,
      '\0',
      '\u2028',
      '#',
    ]
    let refused = 0
    const wrong: unknown[] = []
    for (let n = 0; n < 1500; n++) {
      let csv = ''
      for (let length = random(25); length >= 0; length--) csv += alphabet[random(alphabet.length)]
      const expected = plainReading(csv)
      const found = await linesOf(csv, 1 + random(12)).catch((error: CsvError) => error.code)
      if (expected === 'parse_error') refused++
      if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push({ csv, found, expected })
    }
    t.same(wrong, [])
    t.ok(refused > 150 && refused < 1350, `${refused} of them are no CSV`)
  })

  t.test('an unclosed quote is refused with the record and the line where it begins', async (t) => {
    for (const [csv, rowOf, line] of [
      ['"a', 2, 2],
      ['a,"b\nc,d\n', 2, 2],
      ['a\n"b\n\nc"\n\nx,"', 5, 7],
      ['a\r\n"b\r\nc\rd"\r"', 4, 6],
    ] as const) {
      for (const size of [1, 2, 1000]) {
        const fault = await faultOf(linesOf(csv, size))
        t.match(
          fault,
          { code: 'parse_error', message: `Rij ${rowOf}, die begint op regel ${line} ` },
          JSON.stringify(csv),
        )
        t.match(fault.message, 'niet wordt gesloten')
      }
    }
    t.match(await faultOf(readText(`"${HEADER}\n`)), { code: 'parse_error', message: 'Rij 1, die begint op regel 1 ' })
  })

  t.test('text after a closing quote is refused with the record and the line where it begins', async (t) => {
    for (const [csv, rowOf, line] of [
      ['"a"b\n', 2, 2],
      ['"a" ,b\n', 2, 2],
      ['a\n"b\n"\n\n"c"é', 5, 6],
      ['"a,b\n"c",d\n', 2, 2], // the quote missing after a meets the next one
    ] as const) {
      for (const size of [1, 2, 1000]) {
        const fault = await faultOf(linesOf(csv, size))
        t.match(
          fault,
          { code: 'parse_error', message: `Rij ${rowOf}, die begint op regel ${line} ` },
          JSON.stringify(csv),
        )
        t.match(fault.message, 'tekst na een sluitend aanhalingsteken')
      }
    }
  })

  t.test('of exactly the most cells are read, one more is refused', async (t) => {
    const row = (cells: number) => `${HEADER}\na\n${','.repeat(cells - 1)}\nb\n`
    t.same(
      (await readText(row(20_000))).regels.map(({ length }) => length),
      [1, 20_000, 1],
    )
    const refused = {
      code: 'parse_error',
      message: 'Rij 3, die begint op regel 3 van het bestand, heeft meer dan 20000 waarden',
    }
    t.match(await faultOf(readText(row(20_001))), refused)
    t.match(await faultOf(readText(`${HEADER}\na\n${'"",'.repeat(20_000)}`)), refused)
    const header = (bytes: number) => `${HEADER},${'x'.repeat(bytes - HEADER.length - 2)}\na\n`
    t.equal((await readText(header(64 * 1024))).regels.length, 1)
    t.match(await faultOf(readText(header(64 * 1024 + 1))), { message: 'Rij 1, die begint op regel 1 ' })
  })

  t.test('of exactly the largest size are read, one byte more is refused', async (t) => {
    const maxRecordBytes = HEADER.length + 1
    for (const [fill, end] of [
      [(length: number) => 'x'.repeat(length), '\n'],
      [(length: number) => 'x'.repeat(length), ''],
      [(length: number) => `"${'\n'.repeat(length - 2)}"`, '\r\n'],
      [(length: number) => `é${' '.repeat(length - 2)}`, '\r'],
      [(length: number) => ','.repeat(length), '\n'],
    ] as const) {
      const fits = `${HEADER}\na\n${fill(maxRecordBytes - end.length)}${end}`
      const tooLarge = `${HEADER}\na\n${fill(maxRecordBytes - end.length + 1)}${end}`
      for (const size of [1, 100, 100_000]) {
        t.equal((await readLines(inPieces(Buffer.from(fits), size), { maxRecordBytes })).regels.length, 2)
        const fault = await faultOf(readLines(inPieces(Buffer.from(tooLarge), size), { maxRecordBytes }))
        t.match(fault, { code: 'parse_error', message: 'Rij 3, die begint op regel 3 ' })
        t.match(fault.message, `groter dan ${maxRecordBytes} bytes`)
      }
    }
  })

  t.test('of 1 MiB comes whole', async (t) => {
    const cell = 'é'.repeat(512 * 1024 - 10)
    t.same(await linesOf(`x,"${cell}"\n`, 1000), [['x', cell]])
  })

  t.test('an unclosed quote does not take in the rest of the file', async (t) => {
    let sent = 0
    async function* endless() {
      yield Buffer.from(`${HEADER}\nx,"`)
      for (;;) {
        sent += 64 * 1024
        yield Buffer.alloc(64 * 1024, 'x\n')
      }
    }
    t.match(await faultOf(readLines(endless())), { code: 'parse_error', message: 'Rij 2, die begint op regel 2 ' })
    t.ok(sent <= 2 * 1024 * 1024, `${sent} bytes were read`)
  })

  t.test('are read no further ahead than some chunks', async (t) => {
    let sent = 0
    async function* endless() {
      yield Buffer.from(`${HEADER}\n`)
      for (;;) {
        sent++
        yield Buffer.alloc(64 * 1024, 'a,b\n')
      }
    }
    const { regels } = await readImportCsv(endless())
    const seen: string[][] = []
    for await (const line of regels) if (seen.push(line) === 3) break
    t.same(seen, Array(3).fill(['a', 'b']))
    t.ok(sent < 10, `${sent} chunks were read`)
  })
})

/** RFC 4180 with regular expressions over the whole text; a blank line has no cells. */
function plainReading(csv: string): string[][] | 'parse_error' {
  let at = 0
  const next = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(csv)
    at += found?.[0].length ?? 0
    return found
  }
  const rows: string[][] = []
  while (at < csv.length) {
    const row: string[] = []
    rows.push(row)
    if (next(/\r\n|\r|\n/y)) continue
    do {
      if (csv[at] === '"') {
        const quoted = next(/"((?:[^"]|"")*)"/y)
        if (!quoted) return 'parse_error'
        row.push(quoted[1]!.replaceAll('""', '"'))
      } else {
        row.push(next(/[^,\r\n]*/y)![0])
      }
    } while (next(/,/y))
    if (at < csv.length && !next(/\r\n|\r|\n/y)) return 'parse_error'
  }
  return rows
}

t.test('the header', async (t) => {
  t.test('may have its columns in any order, and further columns', async (t) => {
    const header = ['eigen kolom', ...COLUMN_NAMES.toReversed(), 'UUID', ' uuid', 'é']
    const { header: found, regels } = await readText(`${header.map((naam) => `"${naam}"`).join(',')}\n1,2\n`)
    t.same(found, header)
    t.same(regels, [['1', '2']])
  })

  t.test('may stand alone, with or without newline and mark', async (t) => {
    for (const csv of [HEADER, `${HEADER}\n`, `${MARK}${HEADER}\r\n`, `${MARK}${HEADER}\r`]) {
      t.same(await readText(csv), { header: [...COLUMN_NAMES], regels: [] })
    }
  })

  t.test('is refused when a name is missing, and all missing ones are named', async (t) => {
    for (const naam of COLUMN_NAMES) {
      const rest = COLUMN_NAMES.filter((other) => other !== naam)
      for (const instead of [[], [`${naam}s`], [`x ${naam}`], ['']]) {
        const fault = await faultOf(readText(`${[...rest, ...instead].join(',')}\n`))
        t.match(fault, { code: 'missing-import-headers', message: `In de kopregel ontbreken: ${naam}.` })
      }
    }
    for (const csv of ['\n', `\n${HEADER}\n`, '   ', 'x', ',,,']) {
      const fault = await faultOf(readText(csv))
      t.equal(fault.code, 'missing-import-headers')
      t.match(fault.message, COLUMN_NAMES.join(', '))
    }
  })

  t.test('without any column of an import is refused with what it has instead', async (t) => {
    for (const [csv, saw] of [
      [
        HEADER.replaceAll(',', '~'),
        `Er staat daar één kolom: ${HEADER.replaceAll(',', '~').slice(0, 100)}…. Is het scheidingsteken`,
      ],
      ['Overzicht;2024;;\n', 'Er staat daar 4 kolommen: Overzicht, 2024, , . Staat de kopregel wel op de eerste regel'],
    ] as const) {
      const { code, message } = await faultOf(readText(csv))
      t.equal(code, 'missing-import-headers')
      t.ok(message.includes(saw), message)
    }
    t.notMatch((await faultOf(readText('uuid;titel;taal\n'))).message, 'Er staat')
  })

  t.test('is recognised in other case and with blanks around its names', async (t) => {
    for (const change of [
      (naam: string) => naam.toUpperCase(),
      (naam: string) => naam.toLowerCase(),
      (naam: string) => `  ${naam} `,
      (naam: string) => `\u00a0${naam.toUpperCase()}\t`,
    ]) {
      const changed = COLUMN_NAMES.map(change)
      const { header, regels } = await readText(
        `${changed.map((naam) => `"${naam}"`).join(';')}\r\n${COLUMN_NAMES.join(';')}\r\n`,
      )
      t.same(header, changed, 'kept for the report')
      t.same(valuesOf(header, regels[0]!, 2), {
        rij: Object.fromEntries(COLUMN_NAMES.map((column) => [column, column])),
      })
    }
    const fault = await faultOf(readText(`${HEADER.toUpperCase()},Titel\n`))
    t.match(fault, { code: 'duplicate-import-headers', message: ': titel.' })
    const exact = await readText(`Titel, UUID,${HEADER}\na,b,${HEADER}\n`)
    t.match(
      valuesOf(exact.header, exact.regels[0]!, 2),
      { rij: { titel: 'titel', uuid: 'uuid' } },
      'the exact name goes first',
    )
  })

  t.test('is refused when a name stands there twice, and all such names are named', async (t) => {
    for (const naam of COLUMN_NAMES) {
      const fault = await faultOf(readText(`${HEADER},${naam}\n`))
      t.match(fault, { code: 'duplicate-import-headers', message: `: ${naam}.` })
    }
    const fault = await faultOf(readText(`${HEADER},eigen,titel,eigen,taal,eigen\n`))
    t.match(fault, { code: 'duplicate-import-headers', message: ': titel, eigen, taal.' })
    const many = Array.from({ length: 300 }, (_, i) => `${i}${'x'.repeat(80)}`)
    const long = await faultOf(readText(`${[...COLUMN_NAMES, ...many, ...many].join(',')}\n`))
    t.match(long, { code: 'duplicate-import-headers', message: 'en nog 280' })
    t.ok(long.message.length < 3000)
  })

  t.test('may have columns without a name', async (t) => {
    t.same((await readText(`${HEADER},,,\n`)).header, [...COLUMN_NAMES, '', '', ''])
  })

  t.test('is judged before anything after it, wherever the chunks are cut', async (t) => {
    const bytes = Buffer.concat([Buffer.from('uuid\n"a"b\n'), Buffer.from([0xff])])
    for (let at = 0; at <= bytes.length; at++) {
      t.equal((await faultOf(readLines(splitAt(bytes, at)))).code, 'missing-import-headers')
    }
    const { header, regels } = await readImportCsv(each([Buffer.from(`${HEADER}\n"a"b\n`)]))
    t.same(header, COLUMN_NAMES)
    t.equal((await faultOf(Array.fromAsync(regels))).code, 'parse_error')
  })

  t.test('of a file without anything in it is an empty file', async (t) => {
    for (const csv of ['', MARK]) t.equal((await faultOf(readText(csv, 1))).code, 'empty-file')
    t.equal((await faultOf(readLines(each([Buffer.alloc(0), Buffer.alloc(0)])))).code, 'empty-file')
  })
})

t.test('a source that breaks off rejects the iteration', async (t) => {
  for (const reason of [undefined, new Error('connection lost')]) {
    t.test(reason ? 'with an error' : 'without an error', async (t) => {
      const source = new PassThrough()
      source.write(`${HEADER}\n1\n2\n`)
      const { regels } = await readImportCsv(source)
      const read: string[][] = []
      const reading = (async () => {
        for await (const line of regels) if (read.push(line) === 1) source.destroy(reason)
      })()
      await t.rejects(reading, reason ?? { code: 'ERR_STREAM_PREMATURE_CLOSE' })
      t.same(read[0], ['1'])
    })

    t.test(`before anybody reads the rows, ${reason ? 'with' : 'without'} an error`, async (t) => {
      const source = new PassThrough()
      source.write(`${HEADER}\n1\n2\n`)
      const { regels } = await readImportCsv(source)
      source.on('error', () => {}).destroy(reason)
      await once(source, 'close').catch(() => {})
      await t.rejects(Array.fromAsync(regels), reason ?? { code: 'ERR_STREAM_PREMATURE_CLOSE' })
    })

    t.test(`within the header, ${reason ? 'with' : 'without'} an error`, async (t) => {
      const source = new PassThrough()
      source.write(HEADER)
      const reading = readImportCsv(source)
      source.destroy(reason)
      await t.rejects(reading, reason ?? { code: 'ERR_STREAM_PREMATURE_CLOSE' })
    })
  }

  t.test('when it is an iterable that throws', async (t) => {
    async function* source() {
      yield Buffer.from(`${HEADER}\n1\n`)
      throw new Error('disk gone')
    }
    await t.rejects(readLines(source()), { message: 'disk gone' })
  })
})

t.test('a stream that is read no further is left open', async (t) => {
  const source = new PassThrough()
  source.write('uuid,titel\n')
  await faultOf(readImportCsv(source))
  t.notOk(source.destroyed)

  const second = new PassThrough()
  second.write(`${HEADER}\n1\n"a"b\n`)
  const { regels } = await readImportCsv(second)
  await faultOf(Array.fromAsync(regels))
  t.notOk(second.destroyed)
})

t.test('an upload over HTTP', async (t) => {
  const outcomes: string[] = []
  const server = createServer(async (req, res) => {
    const reading = readLines(req)
    server.emit('reading')
    const outcome = await reading.then(
      ({ regels }) => `${regels.length} rows`,
      (error: NodeJS.ErrnoException) => error.code,
    )
    outcomes.push(outcome!)
    server.emit('read')
    req.resume()
    res.end(outcome)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const upload = () => request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', method: 'POST' })

  for (const [csv, outcome] of [
    [`${HEADER}\n${'a,b\n'.repeat(100_000)}`, '100000 rows'],
    [`uuid,titel\n${'a,b\n'.repeat(1_000_000)}`, 'missing-import-headers'],
    [`${HEADER}\n"a"b\n${'a,b\n'.repeat(1_000_000)}`, 'parse_error'],
  ]) {
    t.test(`is answered with ${outcome}`, async (t) => {
      const [response] = await once(upload().end(csv), 'response')
      t.equal(await text(response), outcome)
    })
  }

  t.test('that the client breaks off is never a complete file', async (t) => {
    outcomes.length = 0
    const client = upload().on('error', () => {})
    const reading = once(server, 'reading')
    const read = once(server, 'read')
    client.write(`${HEADER}\n1\n2\n`)
    await reading
    client.destroy()
    await read
    t.same(outcomes, ['ECONNRESET'])
  })
})

t.test('a row', async (t) => {
  const header = ['eigen kolom', ...COLUMN_NAMES.toReversed()]

  t.test('is taken by the names of the header', async (t) => {
    const result = valuesOf(header, ['iets', ...COLUMN_NAMES.toReversed().map((column) => `van ${column}`)], 2)
    t.same(result, { rij: Object.fromEntries(COLUMN_NAMES.map((column) => [column, `van ${column}`])) })
  })

  t.test('with another number of values than the header is refused with its number', async (t) => {
    for (let count = 0; count <= 80; count++) {
      if (count >= header.length - 2 && count <= header.length) continue // uuid and identificatie may be empty
      const fout = `Rij 7: te ${count < header.length ? 'weinig' : 'veel'} waarden (${count}, de kopregel heeft er 28).`
      t.same(valuesOf(header, Array(count).fill('x'), 7), { fout })
    }
  })
})

t.test('a row whose empty cells at the end are missing is whole, up to the last required one', async (t) => {
  const header = [...COLUMN_NAMES, 'eigen']
  const whole = COLUMN_NAMES.indexOf('informatieobjecttype') + 1
  for (let count = 0; count <= header.length; count++) {
    const values = valuesOf(header, Array(count).fill('x'), 2)
    if (count < whole) t.match(values, { fout: `Rij 2: te weinig waarden (${count}, de kopregel heeft er 28).` })
    else {
      const expected = COLUMN_NAMES.map((column, place) => [column, place < count ? 'x' : ''])
      t.same(values, { rij: Object.fromEntries(expected) }, `${count} cells`)
    }
  }
})

const empty = Object.fromEntries(COLUMN_NAMES.map((column) => [column, ''])) as CsvRow
const rowOf = (cells: Partial<CsvRow>): CsvRow => ({ ...empty, bestandspad: 'a.pdf', ...cells })
const LEGE_BODY = { indicatieGebruiksrecht: null, ondertekening: null, integriteit: null, trefwoorden: [] }

t.test('a row as a document', async (t) => {
  t.test('has every column in its field', async (t) => {
    const texts = {
      identificatie: 'D-1',
      bronorganisatie: '517439943',
      creatiedatum: '2024-01-02',
      titel: ' Titel ',
      vertrouwelijkheidaanduiding: 'openbaar',
      auteur: 'A. Auteur',
      status: 'definitief',
      formaat: 'text/plain',
      taal: 'nld',
      bestandsnaam: 'b.txt',
      link: 'https://example.nl/',
      beschrijving: 'regel 1\nregel 2',
      ontvangstdatum: '2024-01-03',
      verzenddatum: '2024-01-04',
      verschijningsvorm: 'brief',
      informatieobjecttype: 'https://example.nl/iot/1',
    }
    const result = rowToDocument(
      rowOf({
        ...texts,
        uuid: '4ED3C9AC-8c6e-4b0b-9D2C-1d2f3a4b5c6d',
        bestandsomvang: '12',
        bestandspad: 'map/b.txt',
        indicatieGebruiksrecht: 'False',
        'ondertekening.soort': 'digitaal',
        'ondertekening.datum': '2024-01-05',
        'integriteit.algoritme': 'md5',
        'integriteit.waarde': 'abc',
        'integriteit.datum': '2024-01-06',
        zaakUuid: '5ED3C9AC-8C6E-1B0B-9D2C-1D2F3A4B5C6D',
        trefwoorden: 'een, twee',
      }),
    )
    t.same(result, {
      uuid: '4ed3c9ac-8c6e-4b0b-9d2c-1d2f3a4b5c6d',
      bestandspad: 'map/b.txt',
      zaakUuid: '5ed3c9ac-8c6e-1b0b-9d2c-1d2f3a4b5c6d',
      cellFaults: [],
      body: {
        ...texts,
        bestandsomvang: 12,
        indicatieGebruiksrecht: false,
        ondertekening: { soort: 'digitaal', datum: '2024-01-05' },
        integriteit: { algoritme: 'md5', waarde: 'abc', datum: '2024-01-06' },
        trefwoorden: ['een', ' twee'],
      },
    })
    t.equal(
      Object.keys(result.body).length + 3,
      COLUMN_NAMES.length - 3,
      'every column, two groups of two and three as one',
    )
  })

  t.test('leaves out what is empty', async (t) => {
    t.same(rowToDocument(rowOf({})), {
      uuid: null,
      bestandspad: 'a.pdf',
      zaakUuid: null,
      cellFaults: [],
      body: LEGE_BODY,
    })
  })

  t.test('reads the usual spellings of yes and no', async (t) => {
    for (const [cell, value] of [
      ['', null],
      ['true', true],
      ['True', true],
      ['TRUE', true],
      ['WAAR', true],
      ['ja', true],
      ['1', true],
      ['false', false],
      ['False', false],
      ['FALSE', false],
      ['ONWAAR', false],
      ['nee', false],
      ['0', false],
    ] as const) {
      t.equal(rowToDocument(rowOf({ indicatieGebruiksrecht: cell })).body.indicatieGebruiksrecht, value)
    }
  })

  t.test('has its days as the standard writes them, from those that are written day first', async (t) => {
    const columns = [
      'creatiedatum',
      'ontvangstdatum',
      'verzenddatum',
      'ondertekening.datum',
      'integriteit.datum',
    ] as const
    for (const kolom of columns) {
      const [group = '', part] = kolom.split('.')
      const read = (cell: string) => {
        const { body, cellFaults } = rowToDocument(rowOf({ [kolom]: cell }))
        return { value: part ? (body[group] as Record<string, unknown>)[part] : body[group], cellFaults }
      }
      for (const [cell, value] of [
        ['1-5-2024', '2024-05-01'],
        ['01-05-2024', '2024-05-01'],
        ['01/05/2024', '2024-05-01'],
        ['1.5.2024', '2024-05-01'],
        ['29-2-2024', '2024-02-29'],
        ['31/12/1899', '1899-12-31'],
        ['2024-05-01', '2024-05-01'],
        ['2024-02-30', '2024-02-30'], // left for the create to refuse
        ['mei 2024', 'mei 2024'],
      ] as const) {
        t.same(read(cell), { value, cellFaults: [] }, `${kolom} ${cell}`)
      }
      for (const [cell, reden] of [
        ['1-5-24', /vier cijfers/],
        ['01/05/24', /vier cijfers/],
        ['5/13/2024', /bestaat niet. De dag staat voorop/],
        ['29-2-2023', /bestaat niet/],
        ['0-1-2024', /bestaat niet/],
      ] as const) {
        t.match(read(cell).cellFaults, [{ kolom, code: 'invalid', reden }], `${kolom} ${cell}`)
      }
    }
  })

  t.test('has a group as soon as one of its columns is filled', async (t) => {
    for (const [cells, groups] of [
      [{ 'ondertekening.soort': 'pki' }, { ondertekening: { soort: 'pki', datum: null } }],
      [{ 'ondertekening.datum': '2024-01-01' }, { ondertekening: { soort: '', datum: '2024-01-01' } }],
      [{ 'integriteit.waarde': 'x' }, { integriteit: { algoritme: '', waarde: 'x', datum: null } }],
      [{ 'integriteit.datum': '2024-01-01' }, { integriteit: { algoritme: '', waarde: '', datum: '2024-01-01' } }],
    ] as [Partial<CsvRow>, object][]) {
      t.same(rowToDocument(rowOf(cells)).body, { ...LEGE_BODY, ...groups })
    }
  })

  t.test('splits trefwoorden at the commas, without quotes and untrimmed', async (t) => {
    for (const [cell, woorden] of [
      ['a', ['a']],
      ['"a","b c"', ['a', 'b c']],
      ['a,,b', ['a', '', 'b']],
      ['a,', ['a', '']],
      [' ', [' ']],
      ['""', []],
      ['"', []],
    ] as const) {
      t.same(rowToDocument(rowOf({ trefwoorden: cell })).body.trefwoorden, woorden)
    }
  })

  t.test('takes every UUID of RFC 9562, in lower case', async (t) => {
    for (const uuid of [
      'C232AB00-9414-11EC-B3C8-9F6BDECED846', // versions 1, 3 to 8
      '5df41881-3aed-3515-88a7-2f4a814cf09e',
      '919108f7-52d1-4320-9bac-f847db4148a8',
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
      '1EC9414C-232A-6B00-B3C8-9F6BDECED846',
      '017F22E2-79B0-7CC3-98C4-DC0C0C07398F',
      '2489E9AD-2EE2-8E00-8EC9-32D5F69181C0',
      '00000000-0000-0000-0000-000000000000',
      'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    ]) {
      t.match(rowToDocument(rowOf({ uuid, zaakUuid: uuid })), {
        uuid: uuid.toLowerCase(),
        zaakUuid: uuid.toLowerCase(),
        cellFaults: [],
      })
    }
  })

  t.test('reports every cell that is no value, naming the column, and all at once', async (t) => {
    const good = '4ed3c9ac-8c6e-4b0b-9d2c-1d2f3a4b5c6d'
    const bad: [keyof CsvRow, string[]][] = [
      [
        'uuid',
        [
          'x',
          ` ${good}`,
          `${good} `,
          `{${good}}`,
          `urn:uuid:${good}`,
          good.replaceAll('-', ''),
          `${good}0`,
          `${good}\n`,
          good.replace('4', 'g'),
          good.replace('4', '４'),
        ],
      ],
      ['zaakUuid', ['https://example.nl/zaken/1', good.slice(1)]],
      [
        'bestandsomvang',
        [
          'x',
          '1.0',
          '1,0',
          '1e3',
          '1e309',
          'NaN',
          'Infinity',
          '0x10',
          '+1',
          ' 1',
          '1 ',
          '1\n',
          '--1',
          '１',
          '9007199254740993',
          '-',
        ],
      ],
      ['indicatieGebruiksrecht', ['2', '-1', 'j', 'yes', ' true', 'true ', 'null', 'waarheid', 'constructor']],
    ]
    for (const [kolom, cells] of bad) {
      for (const cell of cells) {
        const result = rowToDocument(rowOf({ [kolom]: cell }))
        t.match(result.cellFaults, [{ kolom, code: 'invalid' }], `${kolom} ${JSON.stringify(cell)}`)
        t.equal(result.cellFaults.length, 1)
        t.equal(result.body[kolom] ?? null, null)
      }
    }
    const all = rowToDocument({
      ...empty,
      uuid: 'x',
      zaakUuid: 'x',
      bestandsomvang: 'x',
      indicatieGebruiksrecht: 'x',
      titel: 'T',
    })
    t.same(
      all.cellFaults.map(({ kolom, code }) => [kolom, code]),
      [
        ['bestandsomvang', 'invalid'],
        ['indicatieGebruiksrecht', 'invalid'],
        ['uuid', 'invalid'],
        ['bestandspad', 'required'],
        ['zaakUuid', 'invalid'],
      ],
    )
    t.equal(all.body.titel, 'T', 'the rest can still be judged')
  })

  t.test('reads whole numbers and leaves their range to the create', async (t) => {
    for (const [cell, number] of [
      ['0', 0],
      ['-0', 0],
      ['007', 7],
      ['-5', -5],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ] as const) {
      t.equal(rowToDocument(rowOf({ bestandsomvang: cell })).body.bestandsomvang, number)
    }
  })

  t.test('has its columns named after the fields', async (t) => {
    for (const column of COLUMN_NAMES) t.equal(columnOf(column), column)
    t.equal(columnOf('trefwoorden.0'), 'trefwoorden')
    t.equal(columnOf('trefwoorden.12'), 'trefwoorden')
    t.equal(columnOf('nonFieldErrors'), 'nonFieldErrors')
  })
})

t.test('a row on its way into the database', async (t) => {
  /** What COPY makes of a line of its text format, by the PostgreSQL manual. */
  const copied = (line: string) => {
    const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
    const [importId, number, json, ...more] = line
      .replace(/\n$/, '')
      .split('\t')
      .map((field) => field.replaceAll(/\\([\s\S])/g, (_, c: string) => escapes[c] ?? c))
    return { importId, number, cells: JSON.parse(json!), more }
  }

  t.test('is one line of COPY, whatever its cells hold', async (t) => {
    const random = randomFrom(7)
    const parts = [
      '\\',
      '\t',
      '\n',
      '\r',
      '\0',
      '"',
      '\\n',
      '\\N',
      '\\.',
      '\b',
      '\x7f',
      '\u2028',
      '€',
      '😀',
      'a',
      ',',
      '',
    ]
    const rows = [
      [],
      [''],
      ['\\.'],
      ['\\N'],
      ...Array.from({ length: 500 }, () =>
        Array.from({ length: random(6) }, () => {
          let cell = ''
          for (let n = random(6); n > 0; n--) cell += parts[random(parts.length)]
          return cell
        }),
      ),
    ]
    const wrong = rows.filter((cells) => {
      const line = `12\t${rowLine(34, cells)}`
      const expected = JSON.stringify({ importId: '12', number: '34', cells, more: [] })
      return !/^12\t34\t[^\n\r\t\0]*\n$/.test(line) || JSON.stringify(copied(line)) !== expected
    })
    t.same(wrong, [])
  })

  t.test('gets its number and is counted, in portions of about 512 thousand characters', async (t) => {
    const rows = Array.from({ length: 50_000 }, (_, i) => [`cel ${i}`, 'é'.repeat(20)])
    const regels = portionsOf(each(rows))
    const portions = await Array.fromAsync(regels)
    t.equal(regels.count, 50_000)
    t.same(
      portions.flat().map((line) => copied(`5\t${line}`)),
      rows.map((cells, i) => ({ importId: '5', number: String(i + 2), cells, more: [] })),
    )
    for (const portion of portions.slice(0, -1)) {
      const { length } = portion.join('')
      t.ok(length >= 512 * 1024 && length < 513 * 1024, `${length}`)
    }
  })

  t.test('is passed over when it is empty, and counted apart', async (t) => {
    const rows = [[], ['a'], ['', '', ''], [' ', '\u00a0'], ['', 'b'], []]
    const portions = portionsOf(each(rows))
    t.same(await Array.fromAsync(portions), [['2\t["a"]\n', '3\t["","b"]\n']])
    t.match(portions, {
      count: 2,
      emptyRows: 4,
      shifts: [
        { number: 2, shift: 1 },
        { number: 3, shift: 3 },
      ],
    })
  })

  t.test('is none in a file with a header only', async (t) => {
    const lines = portionsOf((await readImportCsv(each([Buffer.from(HEADER)]))).regels)
    t.same(await Array.fromAsync(lines), [])
    t.equal(lines.count, 0)
  })

  t.test('is lost to nobody when the source breaks off', async (t) => {
    const source = new PassThrough()
    source.write(`${HEADER}\n1\n`)
    const { regels } = await readImportCsv(source)
    source.destroy()
    await t.rejects(Array.fromAsync(portionsOf(regels)), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
  })
})

t.test('semicolons separate where the header has no comma, as Excel saves CSV in Dutch', async (t) => {
  const header = COLUMN_NAMES.map((column) => `"${column}"`).join(';')
  const cells = COLUMN_NAMES.map(
    (_column, place) => ['a, b', 'x;y', 'say "hi"', '', ' spatie', 'twee\nregels'][place % 6]!,
  )
  const row = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')
  const plain = COLUMN_NAMES.map((_column, place) => (place === 2 ? 'een,twee' : `${place}`))
  const csv = `${MARK}${header}\r\n${row}\r\n${plain.join(';')}\r\n`
  for (const size of [1, 7, 64 * 1024]) {
    const { header, regels } = await readText(csv, size)
    t.same(header, COLUMN_NAMES)
    t.same(regels, [cells, plain], `in pieces of ${size}`)
  }
})

t.test('a header with a comma is one of commas, whatever semicolons there are', async (t) => {
  const { header, regels } = await readText(`${HEADER},a;b\n${COLUMN_NAMES.map(() => '1;2').join(',')},x\n`)
  t.equal(header.at(-1), 'a;b')
  t.same(regels[0]!.slice(0, 2), ['1;2', '1;2'])
  const quoted = await readText(`"a;b",${HEADER}\n`)
  t.equal(quoted.header[0], 'a;b')
})
