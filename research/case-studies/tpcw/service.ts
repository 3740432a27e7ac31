/**
 * TPC-W's bookstore for the RedBlue backend (OSDI 2012, §7.1): twenty transactions, their shadow
 * operations, the invariants that make two of these red, and how `correctables label` draws
 * arguments.
 */
import { defineService, type Service } from 'correctables/server';
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

export { arbitraries } from './arbitraries.ts';
