import type { MemberChange } from '../../service/records/records.ts';
import {
  answerVersion,
  getNodeVersion,
  type NodeVersion,
  type VersionContext,
} from './activate.ts';
import { CHANGE, PendingChanges, parseChange, type ChangeReply } from './become-member.ts';
import type { ClusterLinks, ControlRequest } from '../links/cluster-links.ts';
import { findVoterProblem, type KnownDeployment } from '../red-log/log-voters.ts';
import { IDENTIFY, identifySite } from './first-start.ts';
import type { NodeDirectory } from './node-directory.ts';
import { STATUS, type NodeStatus } from './node-status.ts';
import { TRANSFER } from '../transfer/state-transfers.ts';
import type { DeploymentVersion } from '../../service/records/deployment-version.ts';
import type { Origins } from '../../service/records/origin.ts';
import type { MemberEvent } from '../../site/site-event.ts';
import type { SiteDriver } from '../site-driver.ts';

/** The node that is asked. Its links and its site come and go. */
export interface RequestedNode {
  readonly name: string;
  readonly directory: NodeDirectory;
  /** The version that the node runs. */
  readonly ownVersion: DeploymentVersion;
  /** Returns the version in force, if no checkpoint has a newer one. */
  getFoundingVersion(): DeploymentVersion;
  getOrigins(): Origins;
  getLinks(): ClusterLinks;
  getStatus(): NodeStatus;
  /** Returns `undefined` while the site does not run. */
  getDriver(): SiteDriver | undefined;
  /** Returns the same driver. Throws `UNAVAILABLE` while there is none. */
  requireDriver(): SiteDriver;
  /** The deployment as the node knows it now. */
  readonly deployment: KnownDeployment;
  /** Answers a request about state transfers. */
  answerTransfer(from: string, body: unknown): unknown;
  /** Answers a request about the red log; `undefined` if it is another one. */
  answerRedLog(kind: string, body: unknown): unknown;
}

/** Answers what other sites and the commands of operators ask a node. */
export class NodeRequests {
  readonly #node: RequestedNode;
  readonly #versionContext: VersionContext;
  readonly #changes: PendingChanges;

  constructor(node: RequestedNode) {
    this.#node = node;
    this.#versionContext = this.#createVersionContext();
    this.#changes = new PendingChanges(() => node.getDriver()?.redProblem);
  }

  /** The version that the node runs, and the one in force. */
  get version(): NodeVersion {
    return getNodeVersion(this.#versionContext);
  }

  answer({ from, kind, body }: ControlRequest): unknown {
    const node = this.#node;
    if (kind === IDENTIFY && from !== null)
      return identifySite(from, {
        name: node.name,
        driver: node.getDriver(),
        hasData: node.directory.hasData,
        origins: node.getOrigins(),
        service: node.getFoundingVersion().service.hash,
      });
    if (kind === TRANSFER && from !== null) return node.answerTransfer(from, body);
    if (kind === STATUS) return node.getStatus();
    if (kind === CHANGE) return this.#proposeChange(parseChange(body));

    const reply = answerVersion(kind, this.#versionContext) ?? node.answerRedLog(kind, body);
    if (reply !== undefined) return reply;
    throw new Error(`unknown request ${kind}`);
  }

  /** The red log has delivered a change of the members or of the version. */
  onChanged(output: Extract<MemberEvent, { kind: 'changed' }>): void {
    this.#changes.onChanged(output);
  }

  /** Proposes a change of the members. Resolves with its outcome. */
  async #proposeChange(change: MemberChange): Promise<ChangeReply> {
    const problem = findVoterProblem(change.name, this.#node.deployment);
    if (problem !== undefined) return { problem };
    return this.#changes.wait(this.#node.requireDriver().proposeChange(change));
  }

  #createVersionContext(): VersionContext {
    const node = this.#node;
    return {
      site: node.name,
      own: node.ownVersion,
      getInForce: () => node.getDriver()?.machine.activation.inForce ?? node.getFoundingVersion(),
      getOthers: () =>
        node
          .getOrigins()
          .getOthers(node.requireDriver().site)
          .map((origin) => node.getOrigins().getName(origin)),
      request: (peer, kind, body) => node.getLinks().request(peer, kind, body),
      propose: () => this.#changes.wait(node.requireDriver().proposeActivation()),
    };
  }
}
