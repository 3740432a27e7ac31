/**
 * TPC-W's bookstore for the RedBlue backend (OSDI 2012, §7.1): twenty transactions, their shadow operations, the invariants
 * that make two of these red, and how `correctables label` draws arguments for them.
 */
import { defineService, type Service } from 'correctables/server';
import type { Arbitraries } from 'correctables/testing';
import { auditPages } from '../audit.ts';
import { adminGenerators } from './admin.ts';
import { browseGenerators } from './browse.ts';
import { buyGenerators } from './buy.ts';
import { cartGenerators } from './cart.ts';
import { tpcw } from './contract.ts';
import { customerGenerators } from './customers.ts';
import { loadGenerators } from './load.ts';
import { mixes } from './mixes.ts';
import { shadowOperations } from './shadows.ts';
import { invariants, tables } from './tables.ts';

export const service: Service = defineService(tpcw, {
  tables,
  shadowOperations,
  generators: {
    ...browseGenerators,
    ...customerGenerators,
    ...cartGenerators,
    ...buyGenerators,
    ...adminGenerators,
    ...loadGenerators,
    audit: auditPages({ tables, invariants }),
  },
  invariants,
});

/** What a customer can ask for: Table 2 counts them. */
export const requests: readonly string[] = Object.keys(mixes.shopping);

/**
 * A shop of two books, of which a cart that somebody fills can want so many that a second one does not get them. Carts and
 * customers have identifiers that the service makes: the search finds those by itself.
 */
export const arbitraries: Arbitraries = {
  loadItems: ({ pick, between }) => ({
    items: [pick(['1', '2'])].map((item) => ({
      item,
      about: {
        title: pick(['an end', 'the sea']),
        author: '1',
        subject: 'ARTS',
        publisher: 'p',
        description: 'd',
        backing: 'PAPERBACK',
        pages: 20,
        isbn: 'i',
        srpCents: 100,
      },
      published: '2011-04-01',
      costCents: 100,
      image: 'i',
      thumbnail: 't',
      related: ['1'],
      stock: between(10, 40),
    })),
  }),
};
