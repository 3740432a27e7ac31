/** Runs in the start page: two reads of one store in the browser, one whose early view holds and one whose does not. */
import { createClient, type Client } from 'correctables';
import { memory, memoryStore, type MemoryLevels } from 'correctables/bindings/memory';
import { get, put } from 'correctables/operations';
import { byId, setText } from '../shared/page/dom.ts';

/** A copy close by and a primary far away, slowly enough to be watched. */
const DELAYS_MS = { weak: 400, strong: 1800 } as const;
/** The copy hears of what has changed only after both reads. */
const LAG_MS = 60_000;

/** Read by the ids of the page, in which they stand. */
const READS = ['umbrella', 'sunglasses'] as const;

const again = byId('again', HTMLButtonElement);
again.addEventListener('click', () => void play());
void play();

async function play(): Promise<void> {
  again.disabled = true;
  const store = memoryStore();
  const elsewhere = createClient(memory({ store, delaysMs: { weak: 0, strong: 0 } }));
  await Promise.all([elsewhere.invoke(put('umbrella', '12 €')), elsewhere.invoke(put('sunglasses', '20 €'))]);
  // Its copy is made now.
  const here = createClient(memory({ store, delaysMs: DELAYS_MS, lagMs: LAG_MS }));
  await elsewhere.invoke(put('sunglasses', '18 €'));
  await Promise.all(READS.map((name) => show(name, here)));
  await Promise.all([here.close(), elsewhere.close()]);
  again.disabled = false;
}

async function show(name: (typeof READS)[number], shop: Client<MemoryLevels>): Promise<void> {
  const read = byId(name, HTMLElement);
  const tell = (state: string, texts: Readonly<Record<string, string>>): void => {
    read.dataset['state'] = state;
    for (const [part, text] of Object.entries(texts)) setText(byId(`${name}-${part}`, HTMLElement), text);
  };
  const from = performance.now();
  tell('asked', { weak: '…', strong: '…', verdict: 'asked' });
  for await (const { level, value, final, confirms } of shop.invoke(get<string>(name))) {
    const state = final ? (confirms ? 'confirmed' : 'corrected') : 'preliminary';
    const afterMs = Math.round(performance.now() - from);
    tell(state, { [level]: String(value), verdict: `${state} after ${afterMs} ms` });
  }
}
