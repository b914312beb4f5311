// A server that plays no role, with a console, on a store that others work on.
import { createServer } from '@triarch/server'
import { Triarch } from 'triarch'
import { storeAt } from '../subject.ts'
import './parent.ts'

const [place = ''] = process.argv.slice(2)
const triarch = new Triarch({ store: storeAt(place), roles: [], notices: false })
await triarch.start()
const { url } = await createServer(triarch).listen({ port: 0, signals: [] })
console.log(url)
