/** What servers under test want to be told. */
export const TOKEN = 'chaos'
