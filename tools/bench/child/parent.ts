// Imported by processes that must not outlive the one that started them: their standard input ends with it.
process.stdin.on('end', () => process.exit(1))
process.stdin.resume()
process.stdin.unref?.()
