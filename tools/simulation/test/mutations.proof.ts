import { mutations } from '../mutation/mutations.ts'
import { noticed } from './noticed.ts'

noticed(Object.keys(mutations))
