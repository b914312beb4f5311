import { describe, expect, it } from 'vitest'
import { complete, quoted } from '../src/tasks/completion.ts'

const known = { status: ['paused', 'pending'], step: [], tag: [], 'tag.city': ['New York', 'Ulm'], workflow: ['order'] }
const lines = (typed: string) => complete(typed, known).map(({ line }) => line)

describe('the completion of a filter', () => {
  it.each([
    ['', []],
    ['st', ['status:', 'step:']],
    ['workflow:order -st', ['workflow:order -status:', 'workflow:order -step:']],
    ['status:p', ['status:paused', 'status:pending']],
    ['status:PAU', ['status:paused']],
    ['-status:paused,p', ['-status:paused,paused', '-status:paused,pending']],
    ['status:paused', []],
    ['tag.', ['tag.city:']],
    ['tag.city:n', ['tag.city:"New York"']],
    ['step:x', []],
    // What is typed is no name of ours.
    ['constructor:a', []],
    ['toString:', []],
    ['(((', []],
  ])('of %j is %j', (typed, expected) => expect(lines(typed)).toEqual(expected))

  it.each([
    ['plain', 'plain'],
    ['', '""'],
    ['a b', '"a b"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['a*', '"a*"'],
  ])('writes the value %j as %s', (value, expected) => expect(quoted(value)).toBe(expected))
})
