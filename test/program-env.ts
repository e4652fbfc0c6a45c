/** The receivers of tests listen on this machine. */
export const LOOPBACK_ALLOWED = { ALLOWED_PRIVATE_HOSTS: 'localhost,127.0.0.0/8,::1' }

/**
 * The environment of a program that a test starts: nothing of this process but where programs are, and where compiled code is
 * kept, which halves the time of a start.
 */
export function programEnv(env: Record<string, string>): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...LOOPBACK_ALLOWED, ...env }
}
