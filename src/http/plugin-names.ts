import type { FastifyInstance } from 'fastify'

const NAME = Symbol.for('fastify.display-name')

/**
 * Gives each plugin that is registered from here on the name of its function. One without a name Fastify looks for among all
 * modules that were ever required, twice: for all of ours that is a fifth of the time that making the application takes.
 */
export function namePlugins(app: FastifyInstance): void {
  app.register = new Proxy(app.register, {
    apply: (register, instance, given: unknown[]) => {
      const [plugin] = given
      if (typeof plugin === 'function' && !(NAME in plugin))
        Object.defineProperty(plugin, NAME, { value: plugin.name || 'unnamed' })
      return Reflect.apply(register, instance, given)
    },
  })
}
