/** Loads the package for gRPC. Only deployments with their red log on etcd need it. */
import type * as Grpc from '@grpc/grpc-js';
import { CorrectableError } from '../../../correctable/errors.ts';

export type GrpcModule = typeof Grpc;

/**
 * The type is `string`, not a literal, so that compilers and bundlers do not look for a package
 * that may be missing.
 */
const PACKAGE: string = '@grpc/grpc-js';

/** @throws CorrectableError `UNSUPPORTED` that names the package to install */
export async function loadGrpc(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<GrpcModule> {
  try {
    const module = (await load(PACKAGE)) as GrpcModule & {
      readonly default?: GrpcModule;
    };
    return module.default ?? module;
  } catch (cause) {
    const message = `redLog.engine "etcd" needs the package ${PACKAGE}. Install it beside correctables: npm install ${PACKAGE}.`;
    throw new CorrectableError('UNSUPPORTED', message, {
      cause,
      field: 'redLog.engine',
    });
  }
}
