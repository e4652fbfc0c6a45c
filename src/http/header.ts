import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'

/** The text of a header, when it came once. */
export function header(request: FastifyRequest, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

/**
 * The same of a header that is kept and shown: the bytes that came, read as UTF-8. Node gives each byte as a character, which is
 * right only for what is no UTF-8.
 */
export function headerText(request: FastifyRequest, name: string): string {
  const text = header(request, name)
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : text
}

/**
 * Whether who sends this Accept would rather have `type` than `other` (RFC 9110, 12.5.1). Of the ranges that fit a type the most
 * specific one says how much; who says as much of both would not.
 */
export function prefers(accept: string, type: string, other: string): boolean {
  const ranges = accept.split(',').map((item) => {
    const [range = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((one) => one.startsWith('q='))?.slice('q='.length)
    return { range, weight: weight === undefined ? 1 : Number(weight) || 0 }
  })
  const weightOf = (wanted: string) => {
    const fitting = [wanted, wanted.replace(/\/.*/, '/*'), '*/*']
    return fitting.flatMap((range) => ranges.find((one) => one.range === range) ?? [])[0]?.weight ?? 0
  }
  return weightOf(type) > weightOf(other)
}
