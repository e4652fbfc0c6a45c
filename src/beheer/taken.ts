import type { FastifyInstance } from 'fastify'
export function registerTaken(_app: FastifyInstance): void {}
