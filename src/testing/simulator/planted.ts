/**
 * Planted faults: replicas, logs and disks that each break one rule. A simulator that does not catch them proves
 * nothing. They live here only; nothing in production can be switched to them.
 */
import { SequencedLog } from '../../server/log/sequenced-log.ts';
import type { SequencedLogOptions } from '../../server/log/sequenced-log.ts';
import { BluePath } from '../../server/redblue/blue-path.ts';
import type { Stamp } from '../../server/redblue/effect.ts';
import { Certifier } from '../../server/redblue/certifier.ts';
import type { BlueOperation, RedRecord } from '../../server/redblue/records.ts';
import { RedPath } from '../../server/redblue/red-path.ts';
import { Replica } from '../../server/redblue/replica.ts';
import type { StoredReplica } from '../../server/redblue/replica.ts';
import type { Submission } from '../../server/redblue/replica-port.ts';
import { SiteMachine } from '../../server/redblue/site-machine.ts';
import type { SiteOptions } from '../../server/redblue/site-machine.ts';
import { SiteState } from '../../server/redblue/site-state.ts';
import { SimulatedDisk } from './disk.ts';
import type { Profile } from './options.ts';
import { simulatedService } from './service.ts';
import type { Service } from '../../server/redblue/service.ts';
import type { MachineFactory } from './simulated-site.ts';

/** A fault, and the property that it breaks. */
export interface PlantedFault {
  readonly rule: string;
  /** Names of the checkers that may be the first to notice. */
  readonly caughtBy: readonly string[];
  readonly profile: Profile;
  readonly makeMachine?: MachineFactory;
  readonly Disk?: typeof SimulatedDisk;
  readonly service?: Service;
}

type ReplicaClass = new (...args: ConstructorParameters<typeof Replica>) => Replica;
type LogClass = new (options: SequencedLogOptions<RedRecord>) => SequencedLog<RedRecord>;

const withReplica =
  (Broken: ReplicaClass): MachineFactory =>
  (options, stored, nowMs) => {
    class Machine extends SiteMachine {
      protected override createReplica(site: SiteOptions, found: StoredReplica, atMs: number): Replica {
        return new Broken(site, found, atMs);
      }
    }
    return new Machine(options, stored, nowMs);
  };

const withLog =
  (Broken: LogClass): MachineFactory =>
  (options, stored, nowMs) => {
    class Machine extends SiteMachine {
      protected override createLog(log: SequencedLogOptions<RedRecord>): SequencedLog<RedRecord> {
        return new Broken(log);
      }
    }
    return new Machine(options, stored, nowMs);
  };

const withCertifier = (Broken: typeof Certifier): MachineFactory =>
  withReplica(
    class extends Replica {
      protected override createRedPath(): RedPath {
        return new RedPath(this, new Broken());
      }
    },
  );

class BlindBluePath extends BluePath {
  protected override isVisible(): boolean {
    return true;
  }
}

class GatelessRedPath extends RedPath {
  protected override mayPass(): boolean {
    return true;
  }
}

class LocalReadRedPath extends RedPath {
  override read(_id: string, submission: Submission): void {
    this.answerRead(submission);
  }
}

class LenientCertifier extends Certifier {
  protected override conflicts(): boolean {
    return false;
  }
}

class ForgetfulCertifier extends Certifier {
  protected override isDecided(): boolean {
    return false;
  }
}

class EagerLog extends SequencedLog<RedRecord> {
  protected override sendable(): number {
    return this.length;
  }
}

class ArrivalOrderState extends SiteState {
  #arrivals = 0;
  protected override stampOf(operation: BlueOperation): Stamp {
    this.#arrivals += 1;
    return { ...super.stampOf(operation), time: this.#arrivals };
  }
}

class LyingDisk extends SimulatedDisk {
  protected override written(done: (error: undefined) => void): void {
    this.options.timeline.after(0, () => done(undefined));
  }
  protected override synced(): void {}
}

/** All planted faults by name. */
export const PLANTED: Readonly<Record<string, PlantedFault>> = {
  'blue-before-its-causes': {
    rule: 'a blue operation becomes visible only after what it depends on',
    caughtBy: ['causal order'],
    profile: 'lossy',
    makeMachine: withReplica(
      class extends Replica {
        protected override createBluePath(): BluePath {
          return new BlindBluePath(this, this.onBlueApplied);
        }
      },
    ),
  },
  'no-gate': {
    rule: 'a red operation becomes visible only after its blue dependencies',
    caughtBy: ['causal order', 'invariants'],
    profile: 'partitions',
    makeMachine: withReplica(
      class extends Replica {
        protected override createRedPath(): RedPath {
          return new GatelessRedPath(this);
        }
      },
    ),
  },
  'no-certification': {
    rule: 'a red operation commits only if what it read is still so',
    caughtBy: ['invariants'],
    profile: 'calm',
    makeMachine: withCertifier(LenientCertifier),
  },
  'no-deduplication': {
    rule: 'an operation that comes twice takes effect once',
    caughtBy: ['exactly once'],
    profile: 'crashes',
    makeMachine: withCertifier(ForgetfulCertifier),
  },
  'unsynced-sequencer': {
    rule: 'the leader sends only what is synced in its own log',
    caughtBy: ['red total order', 'exactly once', 'convergence', 'progress', 'causal order', 'queues', 'accounts'],
    profile: 'crashes',
    makeMachine: withLog(EagerLog),
  },
  'no-sync': {
    rule: 'acknowledged means in a synced log',
    caughtBy: ['exactly once', 'red total order', 'progress', 'causal order', 'queues', 'accounts', 'convergence'],
    profile: 'crashes',
    Disk: LyingDisk,
  },
  'arrival-order': {
    rule: 'the last writer wins by time, not by arrival',
    caughtBy: ['convergence'],
    profile: 'calm',
    makeMachine: withReplica(
      class extends Replica {
        protected override createState(): SiteState {
          return new ArrivalOrderState(this.options.service, this.options.sites.length);
        }
      },
    ),
  },
  'local-strong-reads': {
    rule: 'a strong read is ordered by the red log',
    caughtBy: ['strong reads'],
    profile: 'calm',
    makeMachine: withReplica(
      class extends Replica {
        protected override createRedPath(): RedPath {
          return new LocalReadRedPath(this);
        }
      },
    ),
  },
  'all-blue-bank': {
    rule: 'a withdrawal is red (RedBlue, OSDI 2012, Figure 5)',
    caughtBy: ['invariants'],
    profile: 'calm',
    service: simulatedService('blue'),
  },
};
