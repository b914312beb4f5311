/**
 * Mutants that nobody can tell from the original, each with the reason. They count neither as noticed nor as missed. One
 * that is not there any more fails the run: the list tells only of what is.
 */
export const equivalent: Readonly<Record<string, string>> = {}
