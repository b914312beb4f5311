import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { type Prisma, PrismaClient } from '../prisma/generated/client.ts'

/** `transaction` for triarch.submit: inside `prisma.$transaction(async (tx) => …)`. */
export function viaPrisma(tx: Prisma.TransactionClient) {
  return {
    query: async (text: string, values: unknown[]) => {
      try {
        return { rows: await tx.$queryRawUnsafe<unknown[]>(text, ...values) }
      } catch (error) {
        // The server's own code, which Prisma keeps behind its own.
        const { meta } = error as { meta?: { driverAdapterError?: { cause?: { originalCode?: string } } } }
        const code = meta?.driverAdapterError?.cause?.originalCode
        throw code === undefined ? error : Object.assign(error as Error, { code })
      }
    },
  }
}

/** Prisma inside task.transaction, on its client: no `$transaction`, and nothing that Prisma makes one of, for it is one already. */
export function prismaOn(tx: pg.ClientBase): PrismaClient {
  const connect = () => Promise.reject(new Error('this is a transaction already'))
  return new PrismaClient({
    adapter: new PrismaPg(Object.assign(new pg.Pool(), { query: tx.query.bind(tx), connect })),
  })
}
