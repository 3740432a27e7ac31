/** Sites that run different versions of a service. All begin with the first one. */
import {
  RULES_VERSION,
  type DeploymentVersion,
} from '../../src/server/service/records/deployment-version.ts';
import { describeService } from '../../src/server/service/describe-service.ts';
import type { Service } from '../../src/server/service/service.ts';
import { MemberWorld } from './member-world.ts';
import type { WorldOptions } from './site-world.ts';
import { shopV1, shopV2 } from './versioned-service.ts';

export const [V1, V2] = [shopV1(), shopV2()] as unknown as readonly [Service, Service];

export function versionOf(service: Service, rules = RULES_VERSION): DeploymentVersion {
  return { rules, service: describeService(service) };
}

/** How the next starts run. */
export function running(
  service: Service,
  rules = RULES_VERSION,
): { service: Service; version: object } {
  return { service, version: { own: versionOf(service, rules), founding: versionOf(V1) } };
}

export class VersionWorld extends MemberWorld {
  constructor(siteCount = 3, options: WorldOptions = {}) {
    super({ ...options, service: V2, siteCount, version: running(V2).version as never });
    this.restart([...Array(siteCount).keys()], V1);
  }

  /** Starts sites again, with another version of the service or of the rules. */
  restart(sites: readonly number[], service: Service, rules?: number): void {
    for (const site of sites) {
      this.sync(site);
      this.crash(site);
      this.options = running(service, rules) as never;
      this.start(site);
    }
    this.pass(50);
  }

  inForceAt(site: number): string | undefined {
    return this.machine(site).activation.inForce?.service.hash;
  }

  problems(): string[] {
    return this.memberEvents.flatMap(([, output]) =>
      output.kind === 'changed' && output.problem !== undefined ? [output.problem] : [],
    );
  }
}
