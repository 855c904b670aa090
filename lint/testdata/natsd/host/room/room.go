package room
