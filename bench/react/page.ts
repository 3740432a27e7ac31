/** The page of the benchmark: opens a product by each way, and times what the user sees of it. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createClient } from 'correctables';
import { redblue } from 'correctables/bindings/redblue';
import { CorrectablesProvider, Hydrate, prefetch, type DehydratedState } from 'correctables/react';
import { createElement, startTransition, Suspense, useState, type ReactNode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { renders, WAYS, type ShopClient } from './components.ts';
import { shop } from './contract.ts';
import type { Way } from './ways.ts';

/** One visit to a product. */
export interface Visit {
  readonly way: Way;
  readonly product: string;
  /**
   * Whether another client buys the product meanwhile, so that the final view corrects the
   * preliminary one.
   */
  readonly isSold: boolean;
}

/** When the user saw each value, in milliseconds from the click, and what that cost. */
export interface Visited {
  readonly firstPaintMs: number;
  readonly finalPaintMs: number;
  /** Whether another value was painted before the final one. */
  readonly isCorrected: boolean;
  readonly renders: number;
  readonly requests: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** How long the pointer is over a link before the click, in milliseconds. */
const HOVER_MS = 100;
/**
 * When another client buys, in milliseconds after the read has begun: the sale reaches the leader
 * before the read does, and the user's site after the read has.
 */
const SALE_MS = 10;
const MENU = 'menu';

const bytes = { sent: 0, received: 0 };
const sizeOf = (data: unknown): number =>
  typeof data === 'string' ? data.length : (data as ArrayBuffer).byteLength;

class CountingSocket extends WebSocket {
  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols);
    this.addEventListener('message', ({ data }) => (bytes.received += sizeOf(data)));
  }
  override send(data: Parameters<WebSocket['send']>[0]): void {
    bytes.sent += sizeOf(data);
    super.send(data);
  }
}

/** Reads that were begun since the last visit. */
const begun: PromiseLike<unknown>[] = [];

function createReader(url: string): ShopClient {
  const client = createClient(redblue(shop, { url, WebSocket: CountingSocket }));
  const counted =
    (invoke: (...args: never[]) => PromiseLike<unknown>) =>
    (...args: never[]) => {
      const read = invoke(...args);
      begun.push(read);
      return read;
    };
  const { invoke, invokeWeak, invokeStrong } = client;
  const methods = {
    invoke: counted(invoke),
    invokeWeak: counted(invokeWeak),
    invokeStrong: counted(invokeStrong),
  };
  return { ...client, ...methods } as ShopClient;
}

const { reader, seller } = (
  globalThis as unknown as { urls: Readonly<Record<'reader' | 'seller', string>> }
).urls;
const client = createReader(reader);
const others = createClient(redblue(shop, { url: seller }));
const queryClient = new QueryClient();
const element = document.querySelector('main')!;

let open: (visit: Visit | undefined) => void;

function App(): ReactNode {
  const [visit, setVisit] = useState<Visit>();
  open = (next) => startTransition(() => setVisit(next));
  const content =
    visit && createElement(WAYS[visit.way], { key: visit.product, client, product: visit.product });
  return createElement(Suspense, { fallback: 'fallback' }, content ?? MENU);
}

/**
 * Calls `onPaint` with each text of the page, once its frame has been painted. Returns a function
 * that ends that.
 */
function watchPaints(onPaint: (text: string) => void): () => void {
  const watching = new MutationObserver(() =>
    requestAnimationFrame(() => {
      const text = element.textContent;
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => onPaint(text);
      port2.postMessage(null);
    }),
  );
  watching.observe(element, { subtree: true, childList: true, characterData: true });
  return () => watching.disconnect();
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const nextPaint = (): Promise<void> =>
  new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/** Round to the resolution of a browser's clock, a tenth of a millisecond. */
const round = (ms: number): number => Math.round(10 * ms) / 10;

async function visit(item: Visit): Promise<Visited> {
  const { way, product, isSold } = item;
  begun.length = bytes.sent = bytes.received = renders.count = 0;
  const sell = async (): Promise<void> => {
    await wait(SALE_MS);
    if (isSold) await others.invoke(shop.sell({ product }));
  };
  let sale: Promise<void> | undefined;
  if (way === 'useCorrectable, prefetched') {
    void prefetch(client, shop.show({ product }));
    sale = sell();
    await wait(HOVER_MS);
  }
  const seen: { readonly text: string; readonly ms: number }[] = [];
  const clickedAt = performance.now();
  const stop = watchPaints((text) => {
    if (text.endsWith('left') && text !== seen.at(-1)?.text)
      seen.push({ text, ms: round(performance.now() - clickedAt) });
  });
  open(item);
  sale ??= sell();
  await sale;
  while (begun.length === 0 || seen.length === 0) await nextPaint();
  await Promise.all(begun);
  for (let frame = 0; frame < 3; frame += 1) await nextPaint();
  stop();
  const visited = {
    firstPaintMs: seen[0]!.ms,
    finalPaintMs: seen.at(-1)!.ms,
    isCorrected: seen.length > 1,
    renders: renders.count,
    requests: begun.length,
    bytesSent: bytes.sent,
    bytesReceived: bytes.received,
  };
  open(undefined);
  while (element.textContent !== MENU) await nextPaint();
  return visited;
}

/** Hydrates a page that a server has rendered. Returns how many requests that took. */
async function hydrate(html: string, state: DehydratedState, product: string): Promise<number> {
  begun.length = 0;
  const page = document.body.appendChild(document.createElement('div'));
  page.innerHTML = html;
  const content = createElement(WAYS.useCorrectable, { client, product });
  const root = hydrateRoot(page, createElement(Hydrate, { client, state }, content));
  for (let frame = 0; frame < 3; frame += 1) await nextPaint();
  // Wait for another read: a request of the page would have been sent before it.
  await client.invokeStrong(shop.show({ product }));
  root.unmount();
  page.remove();
  return begun.length - 1;
}

const providers = createElement(CorrectablesProvider, { client }, createElement(App));
createRoot(element).render(createElement(QueryClientProvider, { client: queryClient }, providers));
Object.assign(globalThis, { visit, hydrate });
