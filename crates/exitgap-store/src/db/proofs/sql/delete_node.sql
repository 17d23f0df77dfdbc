DELETE FROM nodes WHERE no = :no
