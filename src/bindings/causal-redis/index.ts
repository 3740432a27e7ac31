/**
 * `correctables/bindings/causal-redis`: a causally consistent store of several sites, each with a
 * Redis or a Valkey. Node only, and experimental.
 */
export { causalRedis } from './binding.ts';
export { createCausalDeployment } from './create-deployment.ts';
export type { CausalDeployment } from './create-deployment.ts';
export type { CausalRedisAlarm } from './alarms.ts';
export type { CausalDeploymentOptions, CausalRedisOptions, RedisNodes } from './options.ts';
export type { RedisArgument, RedisConnection } from './driver.ts';
export type { CausalLevels } from '../causal/site-host.ts';
