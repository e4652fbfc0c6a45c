// Plain JavaScript without imports, because an older Node has to be able to read it: it says in words what the program needs, before
// something fails that such a Node does not have.
const NEEDED = 26
const EXIT_CONFIG = 78 // sysexits: wrong configuration

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  console.error(
    `zaakstroom: this is Node ${process.versions.node}, and the program needs ${NEEDED} or newer: \`npm ci\` brings one along, which \`npm start\` and \`npm run cli --\` use`,
  )
  process.exit(EXIT_CONFIG)
}
