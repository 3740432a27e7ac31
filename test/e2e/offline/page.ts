/** What the offline page runs: one client a user, whose views outlive the page in IndexedDB. */
import { cached, indexedDbStore, type CachedBinding } from '../../../src/bindings/cache/index.ts';
import {
  redblue,
  type ConnectionState,
  type RedBlueLevels,
} from '../../../src/bindings/redblue/index.ts';
import { createClient, type AnyClient } from '../../../src/correctable/client/client.ts';
import type { Correctable } from '../../../src/correctable/correctable.ts';
import type { CorrectableError } from '../../../src/correctable/errors.ts';
import type { Levels } from '../../../src/correctable/level-types.ts';
import type { AnyView } from '../../../src/correctable/view.ts';
import { notes } from './contract.ts';

/** The signed-in user, also after the page was loaded again without a network. */
const REMEMBERED = 'user';

interface SignedIn {
  readonly user: string;
  readonly binding: CachedBinding<RedBlueLevels>;
  readonly client: AnyClient;
  /** Aborts at signing out. */
  readonly left: AbortController;
}

const section = (id: string): HTMLElement => document.querySelector(`#${id}`)!;
let here: SignedIn | undefined;
let note: Correctable<string | null, Levels, string> | undefined;

function signIn(user: string): void {
  localStorage.setItem(REMEMBERED, user);
  let isAway = false;
  const site = redblue(notes, {
    url: `ws://${location.host}/here`,
    token: async () => (await fetch(`/token?user=${user}`)).text(),
    onStateChange: (state) => {
      if (here?.user === user) showConnection(state);
      if (state === 'waiting') isAway = true;
      if (state !== 'open' || !isAway) return;
      isAway = false;
      // A read that is under way is answered now; what has ended without an answer is asked again.
      if (note?.state !== 'pending') ask();
    },
  });
  const binding = cached(site, { principal: user, store: indexedDbStore({ name: 'notes' }) });
  const left = new AbortController();
  here = { user, binding, client: createClient(binding), left };
  for (const event of ['online', 'offline'])
    addEventListener(event, () => site.wake(), { signal: left.signal });
  section('user').textContent = user;
  showConnection(site.connectionState);
  showSignedIn(true);
  ask();
}

async function signOut(): Promise<void> {
  if (here === undefined) return;
  const { binding, client, user, left } = here;
  here = undefined;
  left.abort();
  localStorage.removeItem(REMEMBERED);
  // First the connection: what it still brings would be kept again.
  await client.close();
  await binding.clear({ principal: user });
  showSignedIn(false);
}

/**
 * Shows each view of the note as it comes: the one that the device has kept, then that of the site.
 */
function ask(): void {
  if (here === undefined) return;
  const { client, user } = here;
  // The one before has no listener any more: it is not sent when the connection is back.
  note?.cancel();
  const requested = (note = client.invoke(notes.read({ owner: user }), { timeoutMs: 2_000 }));
  const isShown = (): boolean => note === requested && here?.user === user;
  section('note').textContent = '…';
  delete section('note').dataset['level'];
  section('known').textContent = '';
  requested.subscribe({
    next: (view) => isShown() && showNote(view),
    error: (error) => isShown() && showFailure(error),
  });
}

function showNote({ value, level, meta }: AnyView<string | null>): void {
  section('note').textContent = value ?? 'No note yet.';
  section('note').dataset['level'] = level;
  const keptAt = new Date(Number(meta?.['cachedAt'] ?? 0));
  section('known').textContent =
    level === 'cache'
      ? `Kept on this device at ${keptAt.toLocaleTimeString()}.`
      : `From the site, ${level}.`;
}

/** What was shown stays. */
function showFailure({ code, lastView }: CorrectableError): void {
  if (lastView === undefined) section('note').textContent = 'Not on this device.';
  section('known').textContent +=
    code === 'UNAVAILABLE' ? ' The site does not answer.' : ` Failed: ${code}.`;
}

function showConnection(state: ConnectionState): void {
  const isOpen = state === 'open' || state === 'probing';
  section('connection').dataset['state'] = isOpen ? 'open' : 'away';
  section('connection').textContent = isOpen ? 'Online' : 'Offline: trying to connect';
}

function showSignedIn(isSignedIn: boolean): void {
  section('in').hidden = !isSignedIn;
  section('out').hidden = isSignedIn;
}

section('ask').addEventListener('click', ask);
section('sign-out').addEventListener('click', () => void signOut());
for (const button of document.querySelectorAll<HTMLElement>('[data-user]')) {
  button.addEventListener('click', () => signIn(button.dataset['user']!));
}
const remembered = localStorage.getItem(REMEMBERED);
if (remembered === null) showSignedIn(false);
else signIn(remembered);
await navigator.serviceWorker.register('/worker.js');
