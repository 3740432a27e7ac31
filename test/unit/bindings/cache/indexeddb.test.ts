/** `indexedDbStore` on an IndexedDB of its own for each place: what every store of a cache keeps. */
import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { indexedDbStore, type CacheStore } from '../../../../src/bindings/cache/index.ts';
import { keepsStoreContract } from './store-contract.ts';

let places = 0;

keepsStoreContract('indexedDbStore', async () => {
  globalThis.indexedDB = new IDBFactory();
  const name = `contract ${(places += 1)}`;
  const open = (): CacheStore => indexedDbStore({ name });
  return { open, beside: open };
});
