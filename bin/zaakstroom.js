#!/usr/bin/env -S node --max-semi-space-size=8
// The command. A Node before 22.18 cannot read TypeScript at all, and is told here what the program needs.
import '../src/node-version.js'

await import('../src/main.ts')
