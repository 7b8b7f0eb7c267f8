import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { Permission } from '../prisma/generated/client/enums.ts';

const pluginName = 'permission';

declare global {
  // The names and parameters repeat those that Pothos declares, as merging interfaces must.
  /* eslint-disable @typescript-eslint/no-namespace, @typescript-eslint/no-unused-vars */
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      permission: PermissionPlugin<Types>;
    }
    export interface FieldOptions<
      Types extends SchemaTypes,
      ParentShape,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > {
      /** What a key must be allowed to do to select the field. */
      permission?: Permission;
    }
  }
  /* eslint-enable */
}

/**
 * Carries a field's `permission` into the schema, where src/operation.ts finds it: an operation is
 * refused before any of it runs when the key lacks the permission of any field that it selects.
 */
class PermissionPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(fieldConfig: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { permission } = fieldConfig.pothosOptions;
    return permission
      ? { ...fieldConfig, extensions: { ...fieldConfig.extensions, permission } }
      : fieldConfig;
  }
}

SchemaBuilder.registerPlugin(pluginName, PermissionPlugin);

export default pluginName;
