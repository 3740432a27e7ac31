create table bikes (
  id int primary key,
  name text not null,
  rider text
);
insert into bikes (id, name) values (1, 'Red'), (2, 'Blue'), (3, 'Green');
