/**
 * Listing 4 (Correctables, OSDI 2016, §4.2): an advertising system hides the latency of strong
 * consistency by fetching ads for the preliminary references while the final ones are on their way.
 */
import { createClient, type Operation } from 'correctables';
import { memory, memoryStore } from 'correctables/bindings/memory';
import { get, getMany, put } from 'correctables/operations';

type Refs = readonly string[] | undefined;

const shared = memoryStore();
const elsewhere = createClient(memory({ store: shared }));
for (const [ref, ad] of Object.entries({ 'ad:tea': 'Tea', 'ad:bike': 'Bikes' }))
  await elsewhere.invoke(put(ref, ad));
await elsewhere.invoke(put('user:7:ads', ['ad:tea']));
const store = createClient(memory({ store: shared, lagMs: 60_000 })); // from now on its backup is far behind

const getPersonalizedAdsRefs = (uid: string): Operation<Refs> =>
  get<readonly string[]>(`user:${uid}:ads`);

/** Fetches the ads themselves and localises them. */
async function getAds(refs: Refs): Promise<string[]> {
  console.log('fetching:', refs?.join(', '));
  const ads = await store.invokeStrong(getMany<string>(refs ?? []));
  return ads.map((ad) => `${ad} (en)`);
}

function fetchAdsByUserId(uid: string): PromiseLike<string[]> {
  return store
    .invoke(getPersonalizedAdsRefs(uid))
    .speculate(getAds) // fetch and post-process ads
    .setCallbacks({ onFinal: (ads) => console.log('deliver:', ads) });
}

await fetchAdsByUserId('7'); // confirmed: fetched once, delivered at once
await elsewhere.invoke(put('user:7:ads', ['ad:tea', 'ad:bike'])); // her interests change
await fetchAdsByUserId('7'); // refuted: fetched again, with the right references

await Promise.all([store.close(), elsewhere.close()]);
