/** The stores behind the gateways. They record how often each update was executed. */
import { deepStrictEqual } from 'node:assert';
import type { Binding } from '../../../src/correctable/binding.ts';
import type { Levels } from '../../../src/correctable/level-types.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import { redblue, REDBLUE_LEVELS } from '../../../src/bindings/redblue/index.ts';
import { remote, type RemoteBinding } from '../../../src/bindings/remote/index.ts';
import { createClient } from '../../../src/index.ts';
import {
  NAMELESS_LEVELS,
  NamelessBinding,
  NamelessStore,
  read,
  READ_MANNER,
  update,
  viewsIn,
  type Manner,
} from './store-without-operation-ids.ts';
import { contract, RedBlueSites } from './redblue-sites.ts';

/** How an update is executed, if the store has a choice. */
export interface UpdateKind {
  readonly isRed: boolean;
  readonly manner: Manner;
}

/** A store of two sites. */
export interface Deployment {
  readonly levels: readonly string[];
  readonly contract?: typeof contract;
  /** Creates a binding of the site for its next gateway; `undefined` if the site is closed. */
  open(site: number): Binding | undefined;
  /** Ends all pending operations of the site. Returns whether the site could be closed. */
  closeSite(site: number): boolean;
  /** Creates a binding of the client, with the sites in order of preference. */
  connect(options: Parameters<typeof redblue>[1]): RemoteBinding<Levels>;
  update(mark: string, kind: UpdateKind): Operation;
  /** Returns how many views an operation has at all levels together. */
  collectViews(kind: UpdateKind | 'read'): number;
  /**
   * Creates a read whose result is `{ runs }`: the names of the runs of the update with this mark.
   */
  read(mark: string): Operation;
  /** Returns the names of the runs of the writes with these marks, from the store itself. */
  runs(marks: readonly string[]): Promise<readonly (readonly string[])[]>;
  close(): Promise<void>;
}

/**
 * Sites that deduplicate updates by the ids in their logs. A closed site stays closed, and another
 * site replaces it.
 */
export function redblueDeployment(): Deployment {
  const sites = new RedBlueSites();
  return {
    levels: REDBLUE_LEVELS,
    contract,
    open: (site) => (sites.open.includes(site) ? sites.binding(site) : undefined),
    closeSite: (site) => sites.closeSite(site),
    connect: (options) => redblue(contract, options) as unknown as RemoteBinding<Levels>,
    update: (mark, { isRed }) => (isRed ? contract.bumpRed({ mark }) : contract.bump({ mark })),
    collectViews: (kind) => (kind === 'read' || kind.isRed ? 2 : 1),
    read: (mark) => contract.count({ mark }),
    async runs(marks) {
      const bySite = sites.open.map((site) => {
        const client = createClient(sites.binding(site));
        return Promise.all(
          marks.map(
            async (mark) =>
              ((await client.invokeWeak(contract.count({ mark }))) as { runs: string[] }).runs,
          ),
        );
      });
      const [first = [], ...others] = await Promise.all(bySite);
      for (const other of others) deepStrictEqual(other, first, 'the sites differ');
      return first;
    },
    close: async () => sites.close(),
  };
}

/**
 * One store that does not deduplicate, with a handle for each site. A closed handle is replaced by
 * a new one.
 */
export function forgetfulDeployment(): Deployment {
  const store = new NamelessStore();
  const handles: NamelessBinding[] = [];
  return {
    levels: NAMELESS_LEVELS,
    open: (site) => (handles[site] = new NamelessBinding(store)) as unknown as Binding,
    closeSite(site) {
      void handles[site]?.close();
      return true;
    },
    connect: (options) =>
      remote({ ...options, levels: NAMELESS_LEVELS }) as unknown as RemoteBinding<Levels>,
    update: (mark, { manner }) => update(mark, manner),
    collectViews: (kind) => viewsIn(kind === 'read' ? READ_MANNER : kind.manner),
    read,
    runs: (marks) => Promise.resolve(marks.map((mark) => store.runsOf(mark))),
    close: async () => {},
  };
}
