/**
 * What users of the social network do: each function is one operation, with the levels that it
 * needs.
 */
import { isCorrectableError, type Client, type Correctable } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { social, type Message, type Profile } from './contract.ts';
import { regionOf, type Region } from './regions.ts';

export type SocialClient = Client<RedBlueLevels>;

export type Action =
  | { readonly kind: 'post'; readonly author: string; readonly text: string }
  | { readonly kind: 'follow' | 'unfollow'; readonly follower: string; readonly followed: string };

/** `unchanged`: nothing had to change. `unknown`: no answer has come, and it may have been done. */
export type Outcome = 'done' | 'unchanged' | 'conflict' | 'unknown';

/** An action and its outcome. Times are since it was sent, in milliseconds. */
export interface Receipt {
  readonly action: Action;
  /** When the early view came, which is a guess of the near site. */
  readonly earlyMs?: number;
  readonly ms?: number;
  readonly outcome?: Outcome;
}

/** The red logs that an action needs. */
export interface NeededLogs {
  /** The log that decides it. */
  readonly home: Region;
  /** The log of the other region, in which rows are held meanwhile. */
  readonly held: Region | undefined;
}

export function findLogs(action: Action): NeededLogs {
  if (action.kind === 'post') return { home: regionOf(action.author), held: undefined };
  const [home, other] = [regionOf(action.follower), regionOf(action.followed)];
  return { home, held: other === home ? undefined : other };
}

/**
 * Reads a timeline from one snapshot of the near site: it has rows of all regions, and waits for no
 * log.
 */
export async function readTimeline(
  client: SocialClient,
  user: string,
): Promise<readonly Message[]> {
  return await client.invokeWeak(social.timeline({ user }));
}

/**
 * Posts, follows or unfollows, and calls `onChange` with each new state of the receipt. Never
 * rejects.
 */
export async function act(
  client: SocialClient,
  action: Action,
  onChange: (receipt: Receipt) => void = () => {},
): Promise<Receipt> {
  let receipt: Receipt = { action };
  const startedMs = performance.now();
  const change = (changes: Partial<Receipt>): void =>
    onChange((receipt = { ...receipt, ...changes }));
  change({});
  const views = send(client, action);
  views.onUpdate(() => change({ earlyMs: receipt.earlyMs ?? performance.now() - startedMs }));
  const outcome = await views.then(
    (result): Outcome => (result === false ? 'unchanged' : 'done'),
    (error: unknown): Outcome => (isCorrectableError(error, 'CONFLICT') ? 'conflict' : 'unknown'),
  );
  change({ outcome, ms: performance.now() - startedMs });
  return receipt;
}

/** Reads who follows whom, at one moment, in the logs of all regions concerned. */
export async function readProfiles(
  client: SocialClient,
  users: readonly string[],
): Promise<readonly Profile[]> {
  return await client.invokeStrong(social.profiles({ users: [...users] }));
}

/** The result is false if nothing had to change. */
function send(client: SocialClient, action: Action): Correctable<number | boolean, RedBlueLevels> {
  if (action.kind === 'post')
    return client.invoke(social.post({ author: action.author, text: action.text }));
  const { kind, follower, followed } = action;
  return client.invoke(social[kind]({ follower, followed }));
}
