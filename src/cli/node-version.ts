const NEEDED = 26

/** @throws Error in words, before something fails that an older Node does not have */
export function requireNode(version = process.versions.node): void {
  if (Number.parseInt(version, 10) >= NEEDED) return
  throw new Error(
    `this is Node ${version}, and the program needs ${NEEDED} or newer: \`npm ci\` brings one along, which \`npm start\` and \`npm run cli --\` use`,
  )
}
