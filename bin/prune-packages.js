// Run after the packages were installed: removes what some bring along and nothing here loads, a quarter of all bytes. Without them
// `npm ls` says that they are missing; an install puts them back, and this removes them again.
import { existsSync, rmSync } from 'node:fs'

const modules = new URL('../node_modules/', import.meta.url)
const isForDevelopment = existsSync(new URL('@biomejs/biome', modules))
const SYSTEMS = ['linux-x64', 'linux-arm64', 'linux-arm', 'darwin-arm64', 'darwin-x64', 'win32-x64', 'win32-arm64']

for (const name of [
  // The headers of C, and a second name of the binary, that the package `node` keeps beside its own.
  'node/node_modules',
  // With these `tap` would build plugins of ours, which we have none of.
  'tshy',
  '@typescript/native-preview',
  ...SYSTEMS.map((system) => `@typescript/native-preview-${system}`),
  // What its own reporter and its own way to run TypeScript need: test/run.ts reports, and Node runs TypeScript.
  ...['es-toolkit', 'react-dom', 'prismjs', 'node-gyp', '@isaacs/ts-node-temp-fork-for-pr-2009'],
  // What @azure/identity loads in a browser.
  '@azure/msal-browser',
  // A production install gets it as an optional wish of a package that reads settings in TypeScript, of which there are none.
  ...(isForDevelopment ? [] : ['typescript', ...SYSTEMS.map((system) => `@typescript/typescript-${system}`)]),
])
  rmSync(new URL(name, modules), { recursive: true, force: true })
