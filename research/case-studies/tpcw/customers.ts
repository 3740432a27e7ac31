/** Customers: who they are, when they were here, and what they bought last. */
import { prefixOf } from '../composite-keys.ts';
import type { GeneratorsOf, HasOf } from './generators.ts';
import type { NewAddress } from './shadows.ts';
import { addressOf, lineOf } from './tables.ts';

/** How long a customer stays logged in. */
const SESSION_MS = 2 * 60 * 60 * 1000;
/** The highest discount of a new customer, in percent. */
const DISCOUNT_MAX = 50;

type Tables = HasOf<'getCustomer'>['tables'];

function customerOf({ customers }: Tables, uname: string): string | undefined {
  return customers.by.uname({ equals: uname, limit: 1 })[0];
}

/** The address that says the same, or a new one. */
export function addressFor(
  { tables, uniqueId }: Pick<HasOf<'createNewCustomer'>, 'tables' | 'uniqueId'>,
  value: Parameters<typeof lineOf>[0],
): { readonly address: string; readonly elsewhere: NewAddress | null } {
  const line = lineOf(value);
  const known = tables.addresses.by.line({ equals: line, limit: 1 })[0];
  if (known !== undefined) return { address: known, elsewhere: null };
  const address = uniqueId();
  return { address, elsewhere: { address, line } };
}

type Names = 'getName' | 'getUserName' | 'getPassword' | 'getCustomer' | 'getMostRecentOrder';

export const customerGenerators: GeneratorsOf<Names | 'createNewCustomer' | 'refreshSession'> = {
  getName: ({ customer }, { tables }) => {
    const { known } = tables.customers.row(customer);
    return known === undefined ? null : { firstName: known.firstName, lastName: known.lastName };
  },
  getUserName: ({ customer }, { tables }) => tables.customers.row(customer).uname ?? null,
  getPassword: ({ uname }, { tables }) => {
    const customer = customerOf(tables, uname);
    return customer === undefined ? null : (tables.customers.row(customer).known?.password ?? null);
  },
  getCustomer: ({ uname }, { tables }) => {
    const customer = customerOf(tables, uname);
    const known = customer === undefined ? undefined : tables.customers.row(customer).known;
    if (customer === undefined || known === undefined) return null;
    const { address, password: _, ...rest } = known;
    return {
      ...rest,
      customer,
      uname,
      address: addressOf(tables.addresses.row(address).line ?? ''),
    };
  },
  getMostRecentOrder: ({ uname }, { tables }) => {
    const customer = customerOf(tables, uname);
    if (customer === undefined) return null;
    const { orders } = tables;
    const [order] = orders.by.history({ prefix: prefixOf(customer), reverse: true, limit: 1 });
    if (order === undefined) return null;
    const { placedAt = 0, status = '', placed, lines = [] } = orders.row(order);
    const { totalCents = 0, shipType = '' } = placed ?? {};
    return { order, placedAt, status, totalCents, shipType, lines: [...lines] };
  },
  createNewCustomer: ({ person, address: value }, has) => {
    const { shadow, uniqueId, random, now: at } = has;
    const { address, elsewhere } = addressFor(has, value);
    const customer = uniqueId();
    const uname = customer;
    const discount = Math.floor(random() * (DISCOUNT_MAX + 1)) / 100;
    const known = { ...person, discount, password: uname.toLowerCase(), address };
    const expiresAt = at + SESSION_MS;
    const made = { customer, uname, known, at, expiresAt, elsewhere };
    return shadow.createNewCustomer(made, { customer, uname, discount });
  },
  refreshSession: ({ customer }, { tables, shadow, now: at }) => {
    if (!tables.customers.has(customer)) return null;
    return shadow.refreshSession({ customer, at, expiresAt: at + SESSION_MS }, null);
  },
};
