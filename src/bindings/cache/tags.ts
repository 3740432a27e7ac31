/** Tags describe what a view depends on and what a change affects, so that both can be compared. */
import { getViewPrincipals } from './cache-key.ts';

/** The tags that a change affects. `undefined` means all. */
export type TagScope = readonly string[] | undefined;

/** The tag of views that may depend on any object. */
const ANY_OBJECT_TAG = 'any';

/** Returns the tags of a change of these objects. With `undefined`, it may change everything. */
export function getScope(touches: readonly string[] | undefined): TagScope {
  return touches && [ANY_OBJECT_TAG, ...touches.map(getObjectTag)];
}

/** Returns the tags of the views of `principal`. With `undefined`, of all principals. */
export function getPrincipalScope(principal: string | undefined): TagScope {
  return principal === undefined ? undefined : [getPrincipalTag(principal)];
}

export function getTags(id: string, touches: readonly string[] | undefined): readonly string[] {
  return [...getViewPrincipals(id).map(getPrincipalTag), ...getObjectTags(touches)];
}

export function getObjectTags(touches: readonly string[] | undefined): readonly string[] {
  return touches?.map(getObjectTag) ?? [ANY_OBJECT_TAG];
}

export function getViewTag(id: string): string {
  return `view ${id}`;
}

function getObjectTag(key: string): string {
  return `object ${key}`;
}

function getPrincipalTag(principal: string): string {
  return `principal ${principal}`;
}
