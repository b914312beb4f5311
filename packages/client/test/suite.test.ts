import { clientSuite, direct, onSqlite, served } from './suite.ts'

clientSuite('Triarch on SQLite', () => onSqlite(direct))
clientSuite('over HTTP, the server on SQLite', () => onSqlite(served))
