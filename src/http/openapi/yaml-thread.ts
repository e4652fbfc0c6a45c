// The thread that writes a document as YAML, which takes seconds: given JSON, it answers with YAML.
import { parentPort, workerData } from 'node:worker_threads'
import { stringify } from 'yaml'
import { standBack } from '../../lib/background-thread.ts'

standBack()

parentPort?.postMessage(stringify(JSON.parse(workerData as string), { aliasDuplicateObjects: false }))
