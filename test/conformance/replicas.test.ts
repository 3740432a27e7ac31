/** The binding to a store with replicas keeps the contract of every binding, over a store in memory. */
import { replicas } from '../../src/bindings/replicas/index.ts';
import { get, put } from '../../src/operations/index.ts';
import type { OpenedBinding } from '../../src/testing/index.ts';
import { ReplicatedMemory, type Fault } from '../support/replicated-memory.ts';
import { runConformance } from '../support/run-conformance.ts';

/** Replicas follow one turn of the event loop behind. */
async function open(before: Fault = () => {}): Promise<OpenedBinding> {
  const store = new ReplicatedMemory();
  store.isFollowing = false;
  store.before = before;
  store.beforeAnswer = () => void setImmediate(() => store.catchUp());
  return { binding: replicas(store) };
}

const fail = (): never => {
  throw new Error('down');
};

runConformance({
  name: 'replicas',
  createBinding: open,
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  weakLevelFails: {
    fail: () => open((_, server) => (server === 'primary' ? undefined : fail())),
    hang: () => open((_, server) => (server === 'primary' ? undefined : new Promise(() => {}))),
  },
  strongLevelFails: () =>
    open((_, server) => (server === 'primary' ? fail() : new Promise((resolve) => setTimeout(resolve, 1)))),
  neverResponds: () => open((_, server) => (server === 'primary' ? fail() : new Promise(() => {}))),
  slowBinding: () => open(() => new Promise((resolve) => setTimeout(resolve, 500))),
});
