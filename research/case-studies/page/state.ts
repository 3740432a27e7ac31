/** What the page of a case study asks for, again and again. */
import type { ByColor, Shares } from '../figures.ts';
import type { Site } from '../sites.ts';

/** One request at one site: its latest latencies, by color. */
export interface Cell extends ByColor {
  readonly site: Site;
  readonly request: string;
}

export interface PageState {
  readonly name: string;
  readonly about: string;
  readonly mix: string;
  readonly sites: readonly { readonly site: Site; readonly place: string }[];
  /** At each site. */
  readonly users: number;
  /** Since the start. */
  readonly seconds: number;
  readonly interactions: number;
  readonly shares: Shares;
  readonly failures: Readonly<Record<string, number>>;
  /** Invariants that sites have found broken. */
  readonly broken: readonly string[];
  /** All names, whether asked for yet or not. */
  readonly requests: readonly string[];
  readonly cells: readonly Cell[];
}
