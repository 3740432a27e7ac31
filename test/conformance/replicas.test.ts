/**
 * The binding to a store with replicas keeps the contract of every binding, over a store in memory.
 */
import { expect, test } from 'vitest';
import { replicas } from '../../src/bindings/replicas/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { ConformanceError } from '../../src/testing/binding-conformance.ts';
import type { ConformanceSubject, OpenedBinding, PausedBinding } from '../../src/testing/index.ts';
import { collectFailure } from './collect-failures.ts';
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

async function openPaused(store = new ReplicatedMemory()): Promise<PausedBinding> {
  store.isFollowing = false;
  return { binding: replicas(store), resume: async () => store.catchUp() };
}

const subject: ConformanceSubject = {
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
    open((_, server) =>
      server === 'primary' ? fail() : new Promise((resolve) => setTimeout(resolve, 1)),
    ),
  neverResponds: () => open((_, server) => (server === 'primary' ? fail() : new Promise(() => {}))),
  pausedWeakLevel: () => openPaused(),
  slowBinding: () => open(() => new Promise((resolve) => setTimeout(resolve, 500))),
};

runConformance(subject);

const PAUSED = 'session: weaker levels are behind → no view of theirs, until they have caught up';

test('an adapter whose positions are always reached is caught', async () => {
  const store = new ReplicatedMemory();
  store.reached = () => true;
  const caught = await collectFailure(
    { ...subject, pausedWeakLevel: () => openPaused(store) },
    PAUSED,
  );
  expect(caught).toBeInstanceOf(ConformanceError);
});

test('an adapter whose positions are never reached is caught', async () => {
  const store = new ReplicatedMemory();
  store.reached = () => false;
  const late = { ...subject, timeoutMs: 300, pausedWeakLevel: () => openPaused(store) };
  const caught = await collectFailure(late, PAUSED);
  expect((caught as Error).message).toContain('after they have caught up');
});
