import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take minutes: last, they would keep one worker busy while the others have nothing to do. */
const LONGEST = ['packages/postgres/test/conformance.test.ts', 'tools/simulation/test/mutations.test.ts']

/** The order of vitest, but for those. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (LONGEST.some((path) => moduleId.endsWith(path)) ? 0 : 1)
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other))
  }
}
