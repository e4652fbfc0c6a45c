// Plain JavaScript without imports, because an older Node has to be able to read it: it says in words what the program needs, before
// something fails that such a Node does not have.
const NEEDED = '26.1' // as a number, which tells 26.0 from the others: 26.10 is 26.1 too
const EXIT_CONFIG = 78 // sysexits: wrong configuration

if (Number.parseFloat(process.versions.node) < Number(NEEDED)) {
  console.error(
    `zaakstroom: this is Node ${process.versions.node}, and the program needs ${NEEDED} or newer: \`npm ci\` brings one along, which \`npm start\` and \`npm run cli --\` use`,
  )
  process.exit(EXIT_CONFIG)
}
