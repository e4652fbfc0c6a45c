import type { FastifyInstance } from 'fastify'
export function registerBewaartermijnen(_app: FastifyInstance): void {}
