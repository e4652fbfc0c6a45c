// Plain JavaScript without imports, because an older Node has to be able to read it: it says in words what the program needs, before
// something fails that such a Node does not have.
const NEEDED = '26.1' // as in `engines` of package.json
const EXIT_CONFIG = 78 // sysexits: wrong configuration

const [major, minor] = process.versions.node.split('.').map(Number)
const [neededMajor, neededMinor] = NEEDED.split('.').map(Number)
if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
  console.error(
    `zaakstroom: this is Node ${process.versions.node}, and the program needs ${NEEDED} or newer: \`npm ci\` brings one along, which \`npm start\` and \`npm run cli --\` use`,
  )
  process.exit(EXIT_CONFIG)
}
