import { storeConformance } from './conformance.ts'
import { inFile } from './sqlite-subject.ts'

// `sqlite.test.ts` has the default, which writes in both.
storeConformance('the SQLite store in this thread', inFile('inline'), { shared: true })
storeConformance('the SQLite store in its own thread', inFile('worker'), { shared: true })
