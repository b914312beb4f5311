import { type Api, post } from '../api/client.ts'
import type { Right } from '../api/right.ts'
import { type Deed, Secret } from '../part/asking.tsx'
import { t } from '../shell/preference.ts'

type Issued = Api['IssuedKey']

/** A day: whoever uses the secret so far has until then. */
const OVERLAP = '1d'
const LASTS = '90d'

const pathOf = (name: unknown) => `/keys/${encodeURIComponent(String(name))}`

/** `mine`: nobody hands out what they do not have. */
export function making(mine: readonly Right[], reload: () => void): Deed {
  const choices = (Object.entries(t().key.does) as [Right, string][]).map(([name, does]) => ({
    ...{ name, does, isBarred: !mine.includes(name) },
  }))
  return {
    title: t().key.make,
    will: t().key.makeWill,
    isNew: true,
    fields: [
      { name: 'name', label: t().name },
      { name: 'rights', label: t().key.rights, choices },
      { name: 'expiresIn', label: t().key.lasts, initial: LASTS, optional: true },
      { name: 'note', label: t().key.note, optional: true },
    ],
    act: async ({ name, rights, ...given }) => {
      const made = await post<Issued>(`${pathOf(name)}/create`, { rights: String(rights).split(' '), ...given })
      return shown(made, reload)
    },
  }
}

export function rotating(name: string, reload: () => void): Deed {
  return {
    title: t().key.rotate,
    will: t().key.rotateWill,
    isReasonNeeded: true,
    fields: [{ name: 'overlap', label: t().key.overlap, initial: OVERLAP }],
    act: async (given) => shown(await post<Issued>(`${pathOf(name)}/rotate`, given), reload),
  }
}

export function revoking(name: string, reload: () => void): Deed {
  return {
    title: t().key.revoke,
    will: t().key.revokeWill,
    isReasonNeeded: true,
    isRisky: true,
    act: async (given) => {
      await post(`${pathOf(name)}/revoke`, given)
      reload()
    },
  }
}

function shown(issued: Issued | undefined, reload: () => void): Secret | undefined {
  reload()
  return issued && new Secret(issued.secret)
}
