/** Filling the bookstore, at its first site. */
import type { GeneratorsOf } from './generators.ts';
import type { Resident } from './load-shadows.ts';
import { lineOf } from './tables.ts';

/** What is there already stays as it is: data is loaded once. */
export const loadGenerators: GeneratorsOf<'loadItems' | 'loadAuthors' | 'loadCustomers'> = {
  loadItems: ({ items }, { tables, shadow }) =>
    shadow.loadItems({ items: items.filter(({ item }) => !tables.items.has(item)) }, null),
  loadAuthors: ({ authors }, { tables, shadow }) =>
    shadow.loadAuthors(
      { authors: authors.filter(({ author }) => !tables.authors.has(author)) },
      null,
    ),
  loadCustomers: ({ customers }, { tables, shadow, now }) => {
    const fresh = customers.filter(({ customer }) => !tables.customers.has(customer));
    const residents = fresh.map(({ person, address, discount, ...rest }): Resident => {
      const known = {
        ...person,
        discount,
        password: rest.uname.toLowerCase(),
        address: `a-${rest.customer}`,
      };
      return { ...rest, known, line: lineOf(address) };
    });
    return shadow.loadCustomers({ residents, at: now }, null);
  },
};
