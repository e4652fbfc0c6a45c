#!/usr/bin/env -S node --max-semi-space-size=8
// Where a process begins. What is imported here is read before anything runs, so it is only what an older Node can read too.
import './node-version.js'

const { askPoolThreads } = await import('./lib/pool-threads.ts')
askPoolThreads()
const { runProgram } = await import('./cli/program.ts')
await runProgram()
