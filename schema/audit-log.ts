import { mayReadChanges } from '../src/audit/actions.ts';
import { auditRecordColumns } from '../src/audit/reads.ts';
import { auditScope } from '../src/auth/scope.ts';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';

const AuditRecord = builder.prismaObject('AuditRecord', {
  description:
    'The record of one change of data. The gateway writes the audit record in the transaction that makes the change.',
  select: auditRecordColumns,
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the record.' }),
    action: t.exposeString('action', { description: 'The name of the change, such as `whitelist.created`.' }),
    apiKeyId: t.exposeID('apiKeyId', { nullable: true, description: 'The API key that made the change.' }),
    requestId: t.exposeString('requestId', {
      description:
        'The identifier of the request that made the change. The log of the gateway contains the same identifier.',
    }),
    companyId: t.exposeID('companyId', {
      nullable: true,
      description: 'The company whose data was changed.',
    }),
    locationId: t.exposeID('locationId', {
      nullable: true,
      description: 'The location whose data was changed.',
    }),
    targetId: t.exposeID('targetId', { description: 'Identifier of the changed object.' }),
    changes: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The values of an object that was created or removed, or the old and new values of an object that was changed. `changes` is null when the API key of the request lacks the permission to read the values of the changed object, such as READ_WHITELIST for `whitelist.created`.',
      complexity: 50,
      resolve: ({ id, action }, _, context) =>
        mayReadChanges(context.key.permissions, action) ? context.services.auditChangesOf(context, id) : null,
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the change was made.',
    }),
  }),
});

const AuditRecordConnection = builder.connectionObject(
  { type: AuditRecord, name: 'AuditRecordConnection', description: 'A page of the audit log.' },
  { name: 'AuditRecordEdge', description: 'An audit record, and its cursor in the list of audit records.' },
);

builder.queryField('auditLog', (t) =>
  t.connection(
    {
      type: AuditRecord,
      permission: 'ADMIN',
      description: 'The audit records of changes in the scope of the API key, newest first.',
      resolve: (_, args, { key, services: { auditRecords } }) =>
        keysetConnection(args, auditRecords(auditScope(key)), { newestFirst: true }),
    },
    AuditRecordConnection,
  ),
);
