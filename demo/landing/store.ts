/**
 * The shop's store for one click: a distant server and a nearby copy, both simulated in this page.
 */
import { createClient, type Binding } from 'correctables';
import { memory, memoryStore, type MemoryLevels } from 'correctables/bindings/memory';
import { dequeue, enqueue, put } from 'correctables/operations';
import { NEW_PRICE, OLD_PRICE, type Scenario } from './scenario.ts';
import { OFFER, STOCK, type Offer, type Shop } from './ways/shop.ts';

/** The round trip to the nearby copy, in milliseconds. */
const NEAR_MS = 4;
/**
 * The replication lag. It is longer than any click, so that the copy receives no change meanwhile.
 */
const LAG_MS = 600_000;
/** A read that no server answers fails after this time, in milliseconds. */
export const TIMEOUT_MS = 1_500;
const PLENTY = 40;
const WAREHOUSE = 'Lyon';

/**
 * Notes that a read has left for the shop's own server. Returns a function that notes that it has
 * ended.
 */
export type NoteRead = (key: string) => () => void;

/** Opens a store in the state that the scenario describes. Close the client that it returns. */
export async function openStore(
  scenario: Scenario,
  noteRead: NoteRead = () => () => {},
): Promise<Shop> {
  const { distanceMs, isStale, isLastOne, isCut } = scenario;
  const store = memoryStore();
  const office = createClient(memory({ store, delaysMs: { weak: 0, strong: 0 } }));
  const left = isLastOne ? 1 : PLENTY;
  const offer = (price: number): Offer => ({ price, left, warehouse: WAREHOUSE });
  await Promise.all([
    office.invoke(put(OFFER, offer(OLD_PRICE))),
    office.invoke(put(WAREHOUSE, 'tomorrow from Lyon')),
    ...Array.from({ length: left }, (_, n) => office.invoke(enqueue(STOCK, n))),
  ]);
  const strong = isCut ? LAG_MS : distanceMs;
  const binding = memory({ store, delaysMs: { weak: NEAR_MS, strong }, lagMs: LAG_MS });
  const shop = createClient(recordReads(binding, noteRead), {
    timeoutMs: isCut ? TIMEOUT_MS : Infinity,
  });
  // Make these changes after the copy of `shop` was created, so that it does not have them.
  if (isStale) await office.invoke(put(OFFER, offer(NEW_PRICE)));
  if (isLastOne) await office.invoke(dequeue(STOCK));
  await office.close();
  return shop;
}

/** Wraps the binding, so that the page can draw when each read travels. */
function recordReads(binding: Binding<MemoryLevels>, noteRead: NoteRead): Binding<MemoryLevels> {
  return {
    name: binding.name,
    consistencyLevels: () => binding.consistencyLevels(),
    supports: (operation) => binding.supports(operation),
    close: () => binding.close(),
    submitOperation(operation, levels, sink, context) {
      if (operation.access !== 'read' || !levels.includes('strong'))
        return binding.submitOperation(operation, levels, sink, context);
      const noteEnd = noteRead(String(operation.key));
      context.signal.addEventListener('abort', noteEnd, { once: true });
      return binding.submitOperation(
        operation,
        levels,
        {
          view(value, level, details) {
            if (level === 'strong') noteEnd();
            return sink.view(value, level, details);
          },
          confirm: (level, sequence, details) => sink.confirm(level, sequence, details),
          fail: (error, level) => sink.fail(error, level),
        },
        context,
      );
    },
  };
}
