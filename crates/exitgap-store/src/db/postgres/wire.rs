//! Converts values for a server and from a server: parameters to the requested types, and columns as stored.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::Row;
use tokio_postgres::row::RowIndex;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::super::DatabaseError;
use super::super::arg::Value;
use super::super::row::ColumnValue;
use super::Fault;

/// The value in a column.
pub fn column_value<'a>(
    row: &'a Row,
    column: impl RowIndex + std::fmt::Display,
) -> Result<ColumnValue<'a>, DatabaseError> {
    let cell: Cell<'a> = row.try_get(column).map_err(Fault::from)?;
    Ok(cell.0)
}

/// A value of any type.
struct Cell<'a>(ColumnValue<'a>);

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *ty {
            Type::INT8 => ColumnValue::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => ColumnValue::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT2 => ColumnValue::Integer(i16::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => ColumnValue::Integer(i64::from(raw.first().copied().unwrap_or_default())),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => ColumnValue::Text(raw),
            Type::BYTEA => ColumnValue::Blob(raw),
            _ => ColumnValue::Fraction,
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(ColumnValue::Nothing))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Integer(number) => match *ty {
                Type::INT8 => out.put_i64(*number),
                Type::INT4 => out.put_i32((*number).try_into()?),
                Type::INT2 => out.put_i16((*number).try_into()?),
                Type::BOOL => out.put_u8(u8::from(*number != 0)),
                _ => return Err(format!("a number was given where {ty} is expected").into()),
            },
            Self::Text(text) if *ty == Type::TEXT => out.put_slice(text.as_bytes()),
            Self::Blob(bytes) if *ty == Type::BYTEA => out.put_slice(bytes),
            other => return Err(format!("{other:?} was given where {ty} is expected").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
